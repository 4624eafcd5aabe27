"""Several models that answer as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.core.kinds import member_kind
from regard.core.state import State, StepOutput
from regard.search.stepper import Stepper, log_probabilities, stacked


@dataclass(frozen=True)
class EnsembleState:
    members: tuple[State, ...]

    def select(self, rows: Tensor) -> "EnsembleState":
        return EnsembleState(tuple(member.select(rows) for member in self.members))


class Ensemble:
    """A stepper made of steppers of any kinds with the same pieces.

    The members' probabilities are averaged (`space="probability"`), or their log-probabilities
    (`space="log"`: what one member finds impossible is so for all). Where each member looked is kept, under kinds
    that have its number, such as `cross.2`.
    """

    def __init__(self, steppers: Sequence[Stepper[Any]], *, space: str = "probability"):
        self.steppers = list(steppers)
        self.mean = SPACES[space]

    def begin(self, sources: Sequence[Any]) -> EnsembleState:
        """One source, as each member knows it."""
        return EnsembleState(
            tuple(stepper.begin(source) for stepper, source in zip(self.steppers, sources, strict=True))
        )

    def step(self, tokens: Tensor, state: EnsembleState) -> StepOutput[EnsembleState]:
        outputs = [
            stepper.step(tokens, member) for stepper, member in zip(self.steppers, state.members, strict=True)
        ]
        said = stacked([log_probabilities(output.logits) for output in outputs])  # members B V
        looks = {
            member_kind(kind, number): weights
            for number, output in enumerate(outputs, start=1)
            for kind, weights in output.attention.items()
        }
        return StepOutput(self.mean(said), looks, EnsembleState(tuple(one.state for one in outputs)))


def _probability(said: Tensor) -> Tensor:
    return said.logsumexp(0) - torch.tensor(len(said), device=said.device).log()


def _log(said: Tensor) -> Tensor:
    return said.mean(0).log_softmax(-1)


SPACES = {"probability": _probability, "log": _log}
