"""What a decoder remembers between steps (a value, never hidden on a module) and what a step gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor

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
    """One step: what the decoder says of the next piece or point, where it looked, what it now remembers."""

    logits: Tensor  # B V, what the head says; wider by words of the sources that only a pointer can say
    attention: Looks
    state: StateT
    loads: tuple[Load, ...] = ()  # of its layers that have experts, in training


@dataclass(frozen=True)
class Choice:
    """What was drawn by chance, for an objective that learns from it (REINFORCE)."""

    log_probability: Tensor  # B H T, of the positions drawn; zero where nothing was drawn
    entropy: Tensor  # B H T, of the distribution they were drawn from


class Features(Protocol):
    """What a decoder knows at some steps, of which a mask or a slice takes some: vectors, or more than them."""

    def __getitem__(self, where: Any, /) -> Self: ...


@dataclass(frozen=True)
class Judged:
    """How likely that is which should have been said."""

    total: Tensor  # what to go backward from: the smoothed loss, summed
    likelihoods: Tensor  # N, log-likelihood of each piece or point without smoothing, no gradient


class Head(Protocol):
    """What turns features into what is said: logits of the next piece, or what is known of the next point."""

    def __call__(self, features: Any) -> Tensor:
        """Of any steps: ... V."""
        ...

    def judge(self, features: Any, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Of N steps against what was wanted (N pieces or N D points); what is said never stands in memory whole."""
        ...

    def judge_said(self, said: Tensor, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """The same, of what was said already (N V). A head that copies knows the mixture alone, and smooths it."""
        ...

    def draw(self, said: Tensor) -> Tensor:
        """What may come next, by chance: N V -> N pieces or N D points."""
        ...


@dataclass(frozen=True)
class Unrolled:
    """All steps of a decoder that was told the target (teacher forcing)."""

    features: Features  # B T, what the decoder's head turns into logits
    attention: Looks
    choice: Choice | None = None
    loads: tuple[Load, ...] = ()  # of all layers that have experts, the encoder's too, in training


class Decoder(Protocol[StateT]):
    """`unroll` followed by `head` equals `step` repeated: tested for every member of the registry."""

    def begin(self, memory: Memory) -> StateT: ...

    def step(self, tokens: Tensor, state: StateT) -> StepOutput[StateT]: ...

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled: ...

    @property
    def head(self) -> Head: ...
