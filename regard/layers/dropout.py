"""Dropout."""

import torch
from torch import Tensor, nn
from torch.nn import functional

CHANCES = 2**16  # a random number of 64 bits decides over four elements


class Dropout(nn.Module):
    """Sets each number to zero with the chance `rate` in training (Srivastava et al. 2014).

    What remains grows, so that the mean stays. On a CPU, torch's own takes a fresh random number
    for each element, which costs more than all else in it.
    """

    def __init__(self, rate: float):
        super().__init__()
        self.rate = rate

    def forward(self, vectors: Tensor) -> Tensor:
        if not self.training or self.rate == 0:
            return vectors
        if vectors.device.type != "cpu":
            return functional.dropout(vectors, self.rate)
        return vectors * factors(vectors, self.rate)

    def extra_repr(self) -> str:
        return f"{self.rate:g}"


class SequenceDropout(Dropout):
    """Dropout on B T D: each number by itself or, `variational`, the same at every step (Gal & Ghahramani 2016)."""

    def __init__(self, rate: float, *, variational: bool = False):
        super().__init__(rate)
        self.variational = variational

    def mask(self, like: Tensor) -> Tensor | None:
        """What `like` (B ... D) is multiplied by; None when nothing is dropped."""
        if not self.training or self.rate == 0:
            return None
        return factors(like, self.rate)

    def forward(self, vectors: Tensor) -> Tensor:
        if not self.variational:
            return super().forward(vectors)
        mask = self.mask(vectors[:, :1])
        return vectors if mask is None else vectors * mask


def factors(like: Tensor, rate: float) -> Tensor:
    """For each number of `like`, zero with the chance `rate`, or else what keeps the mean."""
    if like.device.type != "cpu":
        return functional.dropout(torch.ones_like(like), rate)
    dropped = min(round(rate * CHANCES), CHANCES - 1)
    draws = torch.empty(-(-like.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    chances = draws.view(torch.int16)[: like.numel()].view(like.shape)
    kept = chances >= dropped - CHANCES // 2
    return kept.to(like.dtype).mul_(CHANCES / (CHANCES - dropped))
