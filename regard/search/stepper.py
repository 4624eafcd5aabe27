"""What a search sees of a model: something that begins and steps. Nothing else."""

from typing import Any, Protocol

from torch import Tensor

from regard.core.state import StateT, StepOutput


class Stepper(Protocol[StateT]):
    """A model, an ensemble or a table of numbers: logits or log-probabilities of the next piece, by row."""

    def begin(self, source: Any) -> StateT: ...

    def step(self, tokens: Tensor, state: StateT) -> StepOutput[StateT]: ...
