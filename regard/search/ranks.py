"""Ranks: how finished hypotheses of different lengths are compared."""

from collections.abc import Callable
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


@dataclass(frozen=True)
class Average:
    """log p / length^alpha: with alpha 1, the mean over the pieces."""

    alpha: float = 1.0

    def __call__(self, log_probability: Tensor, length: int | Tensor) -> Tensor:
        return log_probability / length**self.alpha


@dataclass(frozen=True)
class Coverage:
    """strength · Σ log min(looks at a source piece, 1) (Wu et al. 2016, equation 14), added to a rank.

    It is zero when everything was looked at for one step in all, and falls with what was passed over. What
    was not looked at counts as `floor`, so that one piece does not outweigh everything else.
    """

    strength: float
    floor: float = 1e-3

    def __call__(self, looks: Tensor, mask: Tensor) -> Tensor:
        """`looks` (rows S), summed over the steps, and where a source piece stands (rows S)."""
        share = looks.clamp(self.floor, 1).log() * mask  # rows S
        return self.strength * share.sum(-1)


RANKS: dict[str, Callable[[float], Rank]] = {"gnmt": LengthPenalty, "average": Average}
