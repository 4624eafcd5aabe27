"""Several models that say points as one."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from regard.core.state import StepOutput
from regard.search.ensemble import EnsembleState, begin_each, step_each
from regard.search.stepper import PointStepper, SaysPoints


class PointEnsemble:
    """A stepper made of steppers."""

    def __init__(self, steppers: Sequence[PointStepper[Any]]):
        self.steppers = list(steppers)
        self.head = TogetherHead([stepper.head for stepper in steppers])

    def begin(self, sources: Sequence[Any]) -> EnsembleState:
        return begin_each(self.steppers, sources)

    def step(self, tokens: Tensor, state: EnsembleState) -> StepOutput[EnsembleState]:
        return step_each(self.steppers, tokens, state, partial(torch.cat, dim=-1))


class TogetherHead:
    """What several heads said stands side by side. The members count alike.

    The expected point is the mean of theirs; a likelihood is the mean of theirs; a draw is that of one of them.
    """

    def __init__(self, heads: Sequence[SaysPoints]):
        self.heads = list(heads)
        self.size = heads[0].size
        self.draws = True  # one of the members, if nothing else
        self.widths = [head.out_features for head in heads]
        self.out_features = sum(self.widths)

    def expected(self, said: Tensor) -> Tensor:
        return torch.stack([head.expected(one) for head, one in self._each(said)]).mean(0)

    def log_probability(self, said: Tensor, points: Tensor) -> Tensor:
        each = torch.stack([head.log_probability(one, points) for head, one in self._each(said)])
        return each.logsumexp(0) - math.log(len(self.heads))

    def pick(self, said: Tensor, chances: Tensor, temperature: float = 1.0) -> Tensor:
        """The first chance says which member, and what is left of it what the member picks."""
        first = chances[:, 0] * len(self.heads)  # N
        member = first.floor().clamp(max=len(self.heads) - 1)
        left = torch.cat([(first - member)[:, None], chances[:, 1:]], dim=-1)
        drawn = torch.stack([head.pick(one, left, temperature) for head, one in self._each(said)])  # M N D
        return drawn[member.long(), torch.arange(len(said), device=said.device)]

    def _each(self, said: Tensor) -> list[tuple[SaysPoints, Tensor]]:
        ends = list(accumulate(self.widths))
        return [
            (head, said[..., end - width : end])
            for head, width, end in zip(self.heads, self.widths, ends, strict=True)
        ]
