"""Masks are True where something stands and False where padding does."""

import torch
from torch import Tensor


def mask_from_lengths(lengths: Tensor, longest: int | None = None) -> Tensor:
    """`[batch, longest]`, True at the first `lengths[b]` positions of row b."""
    longest = int(lengths.max()) if longest is None else longest
    return torch.arange(longest, device=lengths.device) < lengths[:, None]  # B S


def mean(annotations: Tensor, mask: Tensor) -> Tensor:
    """B S D, B S -> B D, over the places where something stands."""
    here = mask[..., None]  # B S 1
    return (annotations * here).sum(1) / here.sum(1)
