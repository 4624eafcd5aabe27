"""Selections: how scores become weights."""

import torch
from torch import Tensor, nn

from regard.attention.slots import Selected
from regard.core.state import Choice


def softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the allowed positions; the others get exactly zero.

    The lowest number stands in for minus infinity, so that a row with nothing to look at
    gives zeros, not NaN, and its gradient too.
    """
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~mask, lowest), dim=-1) * mask  # B H T S


def highest(scores: Tensor, mask: Tensor) -> Tensor:
    """One where the allowed score is highest, zero elsewhere."""
    lowest = torch.finfo(scores.dtype).min
    return one_hot(scores.masked_fill(~mask, lowest).argmax(dim=-1), scores) * mask  # B H T S


def one_hot(positions: Tensor, like: Tensor) -> Tensor:
    return torch.zeros_like(like).scatter(-1, positions[..., None], 1.0)  # B H T S


class Soft(nn.Module):
    """The expectation: softmax."""

    def forward(self, scores: Tensor, mask: Tensor) -> Selected:
        return Selected(softmax(scores, mask))


class Sparse(nn.Module):
    """Sparsemax, the nearest point of the simplex (Martins & Astudillo 2016, equation 3): exact zeros.

    Sorted scores z₁ ≥ z₂ ≥ …; the k highest with 1 + k·zₖ > z₁ + … + zₖ are the support; the threshold
    τ = (their sum − 1) / k is subtracted and what falls below zero is cut.
    """

    def forward(self, scores: Tensor, mask: Tensor) -> Selected:
        given = scores.dtype
        scores = scores.to(torch.promote_types(given, torch.float32))  # narrow numbers can't count past 256
        # Nothing two below the highest can be in the support, so that is low enough for what is forbidden.
        top = scores.detach().masked_fill(~mask, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
        shifted = torch.where(mask, scores - top, -2.0)  # B H T S
        ordered = shifted.sort(dim=-1, descending=True).values
        sums = ordered.cumsum(-1)
        counts = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=scores.dtype)  # S
        support = (1 + counts * ordered > sums).sum(-1, keepdim=True)  # B H T 1
        threshold = (sums.gather(-1, support - 1) - 1) / support
        return Selected(((shifted - threshold).clamp(min=0) * mask).to(given))


class Nearest(nn.Module):
    """The highest position alone; backwards as if it had been soft (straight-through, Bengio et al. 2013)."""

    def forward(self, scores: Tensor, mask: Tensor) -> Selected:
        soft = softmax(scores, mask)
        return Selected(highest(scores, mask) + (soft - soft.detach()))


class Hard(nn.Module):
    """One position, drawn by chance in training, the highest when predicting (Xu et al. 2015, section 4.1).

    A draw has no gradient. What was drawn comes back as a `Choice`, and the objective learns from it
    by REINFORCE. A share `half_soft` of the looks is left soft, as the paper does with half of its
    examples, to calm the estimate.
    """

    def __init__(self, *, half_soft: float = 0.5):
        super().__init__()
        self.half_soft = half_soft

    def forward(self, scores: Tensor, mask: Tensor) -> Selected:
        if not self.training:
            return Selected(highest(scores, mask))
        soft = softmax(scores, mask)  # B H T S
        logarithms = soft.clamp(min=torch.finfo(soft.dtype).tiny).log()
        entropy = -(soft * logarithms).sum(-1)  # B H T
        rows = soft.detach().flatten(0, -2)
        somewhere = rows.sum(-1, keepdim=True) > 0  # a row with nothing to look at draws nothing
        drawn = torch.multinomial(torch.where(somewhere, rows, 1.0), 1).view(soft.shape[:-1])  # B H T
        is_drawn = torch.rand(soft.shape[:-1], device=soft.device) >= self.half_soft  # B H T
        log_probability = (
            logarithms.gather(-1, drawn[..., None])[..., 0] * is_drawn * somewhere.view(drawn.shape)
        )
        weights = torch.where(is_drawn[..., None], one_hot(drawn, soft) * mask, soft)
        return Selected(weights, Choice(log_probability, entropy))
