"""The three slots of the formula, and the values that pass between them."""

import math
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from regard.core.state import Choice, moved


@dataclass(frozen=True)
class Allowed:
    """Where a query may look. `prior` is added to the scores: a soft wish beside the hard mask."""

    mask: Tensor  # broadcasts to B H T S, True where it may look
    prior: Tensor | None = None  # broadcasts to B H T S


@dataclass(frozen=True)
class Keys:
    """A memory made ready to be looked at: projected once per source, not once per step.

    Hypotheses of one source stand side by side and look at the same: so many rows `share` it.
    """

    keys: Tensor  # N H S K, where there are B = N · share rows
    values: Tensor  # N H S V
    mask: Tensor  # N S
    share: int = 1

    def select(self, rows: Tensor) -> "Keys":
        looked_at = rows // self.share  # B, which of the N
        share = _together(looked_at)
        kept = looked_at[::share]
        if not moved(kept, torch.arange(len(self.mask), device=rows.device)):
            return replace(self, share=share)
        return Keys(self.keys[kept], self.values[kept], self.mask[kept], share)

    def apart(self) -> "Keys":
        """For each row its own."""
        if self.share == 1:
            return self
        rows = torch.arange(len(self.mask), device=self.mask.device).repeat_interleave(self.share)
        return Keys(self.keys[rows], self.values[rows], self.mask[rows])


def _together(numbers: Tensor) -> int:
    """The greatest size of equal groups of neighbours in each of which all numbers are the same."""
    _, counts = torch.unique_consecutive(numbers, return_counts=True)
    return max(1, math.gcd(*counts.tolist()))


class Remembered(Protocol):
    """What can be looked at: `Keys` of a source, or a `Cache` of the steps taken."""

    @property
    def keys(self) -> Tensor: ...

    @property
    def values(self) -> Tensor: ...

    @property
    def mask(self) -> Tensor: ...


class Score(Protocol):
    """How well a query fits a memory position. Heads are the score's own business: it splits or projects."""

    def keys(self, annotations: Tensor) -> Tensor:
        """B S D -> B H S K, once per source."""
        ...

    def queries(self, query: Tensor, steps: Tensor) -> Tensor:
        """B T Q and the steps' numbers (B or 1, T) -> B H T K, all steps at once where they are known."""
        ...

    def __call__(self, queries: Tensor, keys: Tensor) -> Tensor:
        """B H T K, B H S K -> B H T S."""
        ...


class Scope(Protocol):
    """Which memory positions may be looked at."""

    def __call__(self, steps: Tensor, query: Tensor, mask: Tensor) -> Allowed:
        """The steps' numbers (B or 1, T), the queries (B T Q), the memory's mask (B S)."""
        ...


@dataclass(frozen=True)
class Selected:
    weights: Tensor  # B H T S
    choice: Choice | None = None


class Selection(Protocol):
    """How scores become weights."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Selected:
        """B H T S -> B H T S: a distribution over the allowed positions, all zero where none is allowed."""
        ...
