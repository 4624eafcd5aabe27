"""What a decoder remembers between steps (a value, never hidden on a module) and what a step gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from regard.core.load import Load
from regard.core.memory import Memory

# Kind of attention -> its weights. Of one step: [batch, layers, heads, source];
# of all steps: [batch, layers, heads, target, source].
Looks = Mapping[str, Tensor]


def moved(kept: Tensor, before: Tensor) -> bool:
    """Whether rows that were selected differ from what stood there. Most beams go on where they are."""
    return kept.shape != before.shape or not torch.equal(kept, before)


class State(Protocol):
    """Beams, ensembles and finished rows are nothing but selections of rows."""

    def select(self, rows: Tensor) -> Self: ...


StateT = TypeVar("StateT", bound=State)


@dataclass(frozen=True)
class StepOutput(Generic[StateT]):
    """One step: how likely each next piece is, where the decoder looked, what it now remembers."""

    logits: Tensor  # B V
    attention: Looks
    state: StateT
    loads: tuple[Load, ...] = ()  # of its layers that have experts, in training


@dataclass(frozen=True)
class Choice:
    """What was drawn by chance, for an objective that learns from it (REINFORCE)."""

    log_probability: Tensor  # B H T, of the positions drawn; zero where nothing was drawn
    entropy: Tensor  # B H T, of the distribution they were drawn from


@dataclass(frozen=True)
class Unrolled:
    """All steps of a decoder that was told the target (teacher forcing)."""

    features: Tensor  # B T D, what the decoder's head turns into logits
    attention: Looks
    choice: Choice | None = None
    loads: tuple[Load, ...] = ()  # of all layers that have experts, the encoder's too, in training


class Decoder(Protocol[StateT]):
    """`unroll` followed by `head` equals `step` repeated: tested for every member of the registry."""

    def begin(self, memory: Memory) -> StateT: ...

    def step(self, tokens: Tensor, state: StateT) -> StepOutput[StateT]: ...

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled: ...

    @property
    def head(self) -> nn.Linear: ...
