"""Several models that answer as one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.core.kinds import member_kind
from regard.core.state import State, StepOutput
from regard.search.stepper import PointStepper, Stepper, log_probabilities, stacked

Member = Stepper[Any] | PointStepper[Any]


@dataclass(frozen=True)
class EnsembleState:
    members: tuple[State, ...]

    def select(self, rows: Tensor) -> "EnsembleState":
        return EnsembleState(tuple(member.select(rows) for member in self.members))


def begin_each(steppers: Sequence[Member], sources: Sequence[Any]) -> EnsembleState:
    """One source, as each member knows it."""
    return EnsembleState(
        tuple(stepper.begin(source) for stepper, source in zip(steppers, sources, strict=True))
    )


def step_each(
    steppers: Sequence[Member], tokens: Tensor, state: EnsembleState, join: Callable[[list[Tensor]], Tensor]
) -> StepOutput[EnsembleState]:
    """A step of every member. What they say is joined; where each looked is kept, under kinds that have its number,
    such as `cross.2`.
    """
    outputs = [stepper.step(tokens, member) for stepper, member in zip(steppers, state.members, strict=True)]
    looks = {
        member_kind(kind, number): weights
        for number, output in enumerate(outputs, start=1)
        for kind, weights in output.attention.items()
    }
    said = join([output.logits for output in outputs])
    return StepOutput(said, looks, EnsembleState(tuple(output.state for output in outputs)))


class Ensemble:
    """A stepper made of steppers of any kinds with the same pieces.

    The members' probabilities are averaged (`space="probability"`), or their log-probabilities
    (`space="log"`: what one member finds impossible is so for all).
    """

    def __init__(self, steppers: Sequence[Stepper[Any]], *, space: str = "probability"):
        self.steppers = list(steppers)
        self.mean = SPACES[space]

    def begin(self, sources: Sequence[Any]) -> EnsembleState:
        return begin_each(self.steppers, sources)

    def step(self, tokens: Tensor, state: EnsembleState) -> StepOutput[EnsembleState]:
        return step_each(self.steppers, tokens, state, self._mean)

    def _mean(self, logits: list[Tensor]) -> Tensor:
        return self.mean(stacked([log_probabilities(one) for one in logits]))  # B V


def _probability(said: Tensor) -> Tensor:
    return said.logsumexp(0) - torch.tensor(len(said), device=said.device).log()


def _log(said: Tensor) -> Tensor:
    return said.mean(0).log_softmax(-1)


SPACES = {"probability": _probability, "log": _log}
