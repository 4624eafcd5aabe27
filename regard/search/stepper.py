"""What a search sees of a model: something that begins and steps. Nothing else."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from regard.core.errors import UserError
from regard.core.state import StateT, StepOutput


class Stepper(Protocol[StateT]):
    """A model, an ensemble or a table of numbers: logits or log-probabilities of the next piece, by row."""

    def begin(self, source: Any) -> StateT: ...

    def step(self, tokens: Tensor, state: StateT) -> StepOutput[StateT]: ...


class SaysPoints(Protocol):
    """What a rollout asks of a head."""

    size: int  # values of a point
    out_features: int  # numbers that are said of one
    draws: bool  # whether it says how likely other points are

    def expected(self, said: Tensor) -> Tensor: ...

    def log_probability(self, said: Tensor, points: Tensor) -> Tensor: ...

    def pick(self, said: Tensor, chances: Tensor, temperature: float = 1.0) -> Tensor: ...


class PointStepper(Protocol[StateT]):
    """A model, an ensemble or a rule: fed points, it says what is known of the next."""

    @property
    def head(self) -> SaysPoints: ...

    def begin(self, source: Any) -> StateT: ...

    def step(self, tokens: Tensor, state: StateT) -> StepOutput[StateT]: ...


def log_probabilities(logits: Tensor) -> Tensor:
    """In float32 whatever the model computes in: a long answer sums up many of them."""
    return torch.log_softmax(logits.float(), dim=-1)


def stacked(said: Sequence[Tensor]) -> Tensor:
    """Log-probabilities of several members (... V each) as one tensor: what one has no id for, it never says."""
    widest = max(one.shape[-1] for one in said)
    return torch.stack([functional.pad(one, (0, widest - one.shape[-1]), value=-torch.inf) for one in said])


def check_numbers(scores: Iterable[float]) -> None:
    """Comparisons with NaN choose anything: rather no answer than such a one."""
    if any(map(math.isnan, scores)):
        raise UserError(
            "The model gives no numbers (NaN) for what comes next: its weights are damaged or it diverged "
            "in training. Take another checkpoint, or train again with a lower training.learning_rate."
        )
