"""What holds for every search: its marks, and how far and where an answer may go."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from regard.search.rules import Rules, restrict
from regard.search.tops import Tops, tops
from regard.search.watch import NOBODY, Watch


@dataclass(frozen=True)
class Frame:
    limits: Tensor  # B, greatest number of pieces in the answer to each source, the end mark included
    begin: int
    end: int
    never: Sequence[int] = ()  # pieces that stand in no answer
    least: Tensor | None = None  # B, smallest number of pieces, the end mark not counted
    rules: Sequence[Rules] = ()  # of each source; () is none for all of them
    end_threshold: float = 0.0  # the end must be this many times as likely as the likeliest other piece
    watches: Sequence[Watch] = ()  # of each source; () is nobody for all of them
    likeliest: int = 0  # so many of the likeliest next pieces are kept for each step
    bounds: list[int] = field(init=False, repr=False)  # the limits, as numbers

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", self.limits.tolist())

    def __len__(self) -> int:
        return len(self.bounds)

    def rules_of(self, source: int) -> Rules:
        return self.rules[source] if self.rules else ()

    def watch(self, source: int) -> Watch:
        return self.watches[source] if self.watches else NOBODY

    def tops(self, following: Tensor) -> Tops | None:
        """The likeliest pieces by the model's log-probabilities (rows V), whatever is allowed."""
        if not self.likeliest:
            return None
        return tops(following, min(self.likeliest, following.shape[1]))

    def restrict(
        self, following: Tensor, length: int, sources: Sequence[int], rules: Sequence[Rules]
    ) -> Tensor:
        """Log-probabilities (rows V) of the piece number `length`, without what may not come.

        `sources` and `rules` are those of each row. What never comes is taken out in place: two columns at every
        step are not worth a copy of all.
        """
        for piece in self.never:
            following[:, piece] = -torch.inf
        if self.least is not None:
            early = self.least[sources] >= length  # rows
            following = self._without_end(following, early)
        if self.end_threshold > 0:
            others = following.clone()
            others[:, self.end] = -torch.inf
            surest = others.amax(-1)  # rows
            doubtful = following[:, self.end] < surest + math.log(self.end_threshold)
            following = self._without_end(following, doubtful & surest.isfinite())
        rooms = [self.bounds[source] - length + 1 for source in sources]
        return restrict(following, rules, rooms)

    def _without_end(self, following: Tensor, where: Tensor) -> Tensor:
        ends = torch.arange(following.shape[1], device=following.device) == self.end  # V
        return following.masked_fill(where[:, None] & ends, -torch.inf)
