"""Scopes: which memory positions may be looked at."""

import math

import torch
from torch import Tensor, nn

from regard.attention.slots import Allowed
from regard.layers import Linear


class Global(nn.Module):
    """Every position where a source piece stands (Luong et al. 2015, section 3.1)."""

    def forward(self, steps: Tensor, query: Tensor, mask: Tensor) -> Allowed:
        return Allowed(mask[:, None, None])  # B 1 1 S


class Causal(nn.Module):
    """Self-attention that sees no future: the positions up to the query's own."""

    def forward(self, steps: Tensor, query: Tensor, mask: Tensor) -> Allowed:
        positions = torch.arange(mask.shape[1], device=mask.device)  # S
        past = positions <= steps[..., None]  # B or 1, T S
        return Allowed((past & mask[:, None])[:, None])  # B 1 T S


class Window(nn.Module):
    """Self-attention to the neighbours: at most `radius` positions from the query's own."""

    def __init__(self, *, radius: int):
        super().__init__()
        self.radius = radius

    def forward(self, steps: Tensor, query: Tensor, mask: Tensor) -> Allowed:
        return Allowed(_near(steps, self.radius, mask))


class LocalMonotonic(nn.Module):
    """A window that walks along with the steps (Luong et al. 2015, section 3.2, "local-m"): p = t.

    A step beyond the end of the source looks around its last position, so there is always
    something to look at.
    """

    def __init__(self, *, radius: int):
        super().__init__()
        self.radius = radius

    def forward(self, steps: Tensor, query: Tensor, mask: Tensor) -> Allowed:
        centre = torch.minimum(steps, mask.sum(-1, keepdim=True) - 1)  # B T
        return Allowed(_near(centre, self.radius, mask))


class LocalPredicted(nn.Module):
    """A window around a predicted position (Luong et al. 2015, section 3.2, "local-p").

        p = (S − 1)·σ(v·tanh(Wq)),  S the source's length

    The Gaussian around p, of width `spread` (half the radius, as in the paper), is a prior: added to
    the scores as its logarithm, it gives the paper's weights brought back to a sum of one.
    """

    def __init__(self, query_width: int, *, radius: int, spread: float | None = None):
        super().__init__()
        self.radius = radius
        self.spread = radius / 2 if spread is None else spread
        self.hidden = Linear(query_width, query_width, bias=False)
        self.predict = Linear(query_width, 1, bias=False)

    def centre(self, query: Tensor, mask: Tensor) -> Tensor:
        """The predicted positions, B T."""
        said = self.predict(torch.tanh(self.hidden(query)))[..., 0]  # B T
        wide = torch.promote_types(said.dtype, torch.float32)  # narrow numbers can't tell far places apart
        share = torch.sigmoid(said.to(wide))
        return share * (mask.sum(-1, keepdim=True) - 1).clamp(min=0)

    def forward(self, steps: Tensor, query: Tensor, mask: Tensor) -> Allowed:
        centre = self.centre(query, mask)  # B T
        distance = torch.arange(mask.shape[1], device=mask.device) - centre[..., None]  # B T S
        prior = -distance.square() / (2 * self.spread**2) if math.isfinite(self.spread) else None
        near = _near(centre.detach().round(), self.radius, mask)
        return Allowed(near, prior[:, None] if prior is not None else None)


def _near(centre: Tensor, radius: int, mask: Tensor) -> Tensor:
    """B 1 T S, True within `radius` of the centre (B or 1, T) where a piece stands."""
    positions = torch.arange(mask.shape[1], device=mask.device)  # S
    inside = (positions - centre[..., None]).abs() <= radius  # B or 1, T S
    return (inside & mask[:, None])[:, None]
