"""What a model said, to be judged by the pieces that it should have said."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.nn import functional

from regard.core.state import Head, Judged


@dataclass(frozen=True)
class Logits:
    """What a model said, in full. Smoothing falls on the first `vocabulary` of them: the others are not everybody's."""

    logits: Tensor  # N V
    vocabulary: int | None = None  # None: all

    def judge(self, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Against the pieces wanted (N)."""
        log_probabilities = functional.log_softmax(self.logits.float(), dim=-1)  # N V
        likelihoods = log_probabilities.gather(-1, wanted[:, None])[:, 0]  # N
        total = -(1 - smoothing) * likelihoods.sum()
        if smoothing:
            total = total - smoothing * log_probabilities[:, : self.vocabulary].mean(dim=-1).sum()
        return Judged(total, likelihoods.detach())


@dataclass(frozen=True)
class Features:
    """What a model is about to say: the logits of all pieces never stand in memory together."""

    features: Any  # N, what the head reads
    head: Head

    @property
    def logits(self) -> Tensor:
        return self.head(self.features)  # N V

    def judge(self, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Against the pieces wanted (N)."""
        return self.head.judge(self.features, wanted, smoothing)
