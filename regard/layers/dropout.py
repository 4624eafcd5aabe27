"""Dropout over sequences."""

import torch
from torch import Tensor, nn


class SequenceDropout(nn.Module):
    """Dropout on B T D: each number by itself or, `variational`, the same ones at every step (Gal 2016)."""

    def __init__(self, rate: float, *, variational: bool = False):
        super().__init__()
        self.rate = rate
        self.variational = variational

    def mask(self, like: Tensor) -> Tensor | None:
        """What `like` (B ... D) is multiplied by; None when nothing is dropped."""
        if not self.training or self.rate == 0:
            return None
        return torch.empty_like(like).bernoulli_(1 - self.rate) / (1 - self.rate)

    def forward(self, vectors: Tensor) -> Tensor:
        mask = self.mask(vectors[:, :1] if self.variational else vectors)
        return vectors if mask is None else vectors * mask
