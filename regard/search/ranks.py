"""Ranks: how finished hypotheses of different lengths are compared."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


class Rank(Protocol):
    """Must not fall with the log-probability and, for the same log-probability, must not fall with length.

    That is what lets a search stop early without missing anything: the best that an unfinished
    hypothesis can still become is its present log-probability at the greatest length.
    """

    def __call__(self, log_probability: Tensor, length: int | Tensor) -> Tensor: ...


@dataclass(frozen=True)
class LengthPenalty:
    """log p / ((5 + length) / 6)^alpha (Wu et al. 2016, equation 14). With alpha 0 it is log p itself."""

    alpha: float = 0.0

    def __post_init__(self) -> None:
        assert self.alpha >= 0, self.alpha

    def __call__(self, log_probability: Tensor, length: int | Tensor) -> Tensor:
        return log_probability / ((5 + length) / 6) ** self.alpha
