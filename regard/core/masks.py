"""Masks are True where something stands and False where padding does."""

import torch
from torch import Tensor


def mask_from_lengths(lengths: Tensor, longest: int | None = None) -> Tensor:
    """`[batch, longest]`, True at the first `lengths[b]` positions of row b."""
    longest = int(lengths.max()) if longest is None else longest
    return torch.arange(longest, device=lengths.device) < lengths[:, None]  # B S
