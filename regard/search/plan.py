"""Which search, and how far it may go."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.core.pieces import BEGIN, END
from regard.search.beam import beam
from regard.search.greedy import greedy
from regard.search.hypothesis import Hypothesis
from regard.search.ranks import LengthPenalty
from regard.search.stepper import Stepper


@dataclass(frozen=True)
class SearchPlan:
    beam: int = 1
    length_penalty: float = 0.0
    max_length: int = 200
    max_ratio: float = 3.0  # pieces of answer for each piece of source, plus 10

    def __call__(self, stepper: Stepper[Any], source: Any, lengths: Tensor) -> list[Hypothesis]:
        """The best hypothesis for each row. How far a row may go depends on its own length alone."""
        limits = torch.tensor([self.limit(length) for length in lengths.tolist()], device=lengths.device)  # B
        rank = LengthPenalty(self.length_penalty)
        if self.beam == 1:
            return greedy(stepper, source, limits=limits, begin=BEGIN, end=END, rank=rank)
        found = beam(stepper, source, limits=limits, begin=BEGIN, end=END, width=self.beam, rank=rank)
        return [hypotheses[0] for hypotheses in found]

    def limit(self, length: int) -> int:
        """The greatest number of pieces in the answer to a source of this many."""
        return max(1, int(min(length * self.max_ratio + 10, self.max_length)))
