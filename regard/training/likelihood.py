"""What a model said, to be judged by what it should have said."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.core.state import Head, Judged


@dataclass(frozen=True)
class Said:
    """What a model said, in full."""

    said: Tensor  # N V
    head: Head

    def judge(self, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Against the pieces (N) or points (N D) wanted."""
        return self.head.judge_said(self.said, wanted, smoothing)


@dataclass(frozen=True)
class Features:
    """What a model is about to say: all of it never stands in memory together."""

    features: Any  # N, what the head reads
    head: Head

    @property
    def said(self) -> Tensor:
        return self.head(self.features)  # N V

    def judge(self, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Against the pieces (N) or points (N D) wanted."""
        return self.head.judge(self.features, wanted, smoothing)
