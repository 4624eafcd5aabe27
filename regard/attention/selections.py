"""Selections: how scores become weights."""

import torch
from torch import Tensor, nn


class Soft(nn.Module):
    """Softmax over the allowed positions; the others get exactly zero.

    The lowest number stands in for minus infinity, so that a row with nothing to look at
    gives zeros, not NaN, and its gradient too.
    """

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        lowest = torch.finfo(scores.dtype).min
        return torch.softmax(scores.masked_fill(~mask, lowest), dim=-1) * mask  # B H T S
