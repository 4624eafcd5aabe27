"""Recurrent decoders: they differ in when they look and in what they feed back."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention import Attended, Look
from regard.core.kinds import CONTEXT, CROSS
from regard.core.memory import Memory
from regard.core.state import Choice, Looks, StepOutput, Unrolled, moved
from regard.decoders.stack import ASKING, Stack, StackState, lowest
from regard.layers import Embedding, Head, PointEmbedding, PointHead, RecurrentLayer


@dataclass(frozen=True)
class RecurrentState:
    stack: StackState
    keys: Any  # of its look
    step: Tensor  # B, how many steps were taken
    features: Tensor  # B D, of the last step; zero wide where they are not fed back
    seen: Tensor | None  # B H S, what was looked at so far; None where the look does not remember it
    sources: Tensor  # B, which source each row belongs to
    pieces: Tensor | None  # B S, ids of the source
    wanted: frozenset[str]

    def select(self, rows: Tensor) -> "RecurrentState":
        sources, keys, pieces = self.sources[rows], self.keys, self.pieces
        if moved(sources, self.sources):
            keys, pieces = keys.select(rows), pieces[rows] if pieces is not None else None
        return replace(
            self,
            stack=self.stack.select(rows),
            keys=keys,
            step=self.step[rows],
            features=self.features[rows],
            seen=self.seen[rows] if self.seen is not None else None,
            sources=sources,
            pieces=pieces,
        )

    def after(
        self, stack: StackState, attended: Attended, features: Tensor | None = None
    ) -> "RecurrentState":
        """One step further."""
        features = self.features if features is None else features
        seen = self.seen
        if seen is not None and attended.weights is not None:
            seen = seen + attended.weights[:, :, 0]  # B H S
        return replace(self, stack=stack, step=self.step + 1, features=features, seen=seen)


class _Recurrent(nn.Module):
    """What recurrent decoders are made of.

    Their layers read the pieces' vectors multiplied by `scale`; the readout, which adds them to states and contexts,
    has them as they are.
    """

    feeds_back = False  # whether the features of a step are part of the next input

    def __init__(
        self,
        embedding: Embedding | PointEmbedding,
        look: Look,
        stack: Stack,
        bridge: nn.Module,
        readout: nn.Module,
        *,
        head: Head | PointHead,
        scale: float = 1.0,
    ):
        super().__init__()
        self.embedding = embedding
        self.scale = scale
        self.look = look
        self.stack = stack
        self.bridge = bridge
        self.readout = readout
        self.width: int = readout.width  # type: ignore[assignment]
        self.head = head

    def begin(self, memory: Memory) -> RecurrentState:
        rows = torch.arange(memory.mask.shape[0], device=memory.mask.device)  # B
        nothing = memory.annotations.new_zeros(rows.shape[0], self.width if self.feeds_back else 0)  # B D
        first = self.stack.begin(self.bridge(memory))
        keys = self.look.begin(memory)
        seen = self.look.unseen(keys)
        steps = torch.zeros_like(rows)
        return RecurrentState(first, keys, steps, nothing, seen, rows, memory.pieces, memory.wanted)

    def _output(
        self, features: Tensor, attended: Attended, state: RecurrentState
    ) -> StepOutput[RecurrentState]:
        """Of one step, B D."""
        said = self.head.features(features[:, None], attended.weights, state.pieces)
        return StepOutput(self.head(said)[:, 0], _looks(attended, state), state)

    def _unrolled(self, features: Tensor, looks: Sequence[Attended], memory: Memory) -> Unrolled:
        """All steps, B T D, whether they were looked up one by one or at once."""
        every = [attended.weights for attended in looks if attended.weights is not None]
        weights = torch.cat(every, dim=2) if every else None  # B H T S
        said = self.head.features(features, weights, memory.pieces)
        aside = [attended.beside for attended in looks if attended.beside is not None]
        attention = _wanted(weights, torch.cat(aside, dim=2) if aside else None, memory.wanted)  # B 1 H T S
        choices = [attended.choice for attended in looks if attended.choice is not None]
        if not choices:
            return Unrolled(said, attention, loads=memory.loads)
        log_probability = torch.cat([choice.log_probability for choice in choices], dim=2)  # B H T
        entropy = torch.cat([choice.entropy for choice in choices], dim=2)  # B H T
        return Unrolled(said, attention, Choice(log_probability, entropy), memory.loads)


class _OneByOne(_Recurrent, ABC):
    """Those whose every step needs what was seen before it, and whose features can wait for all of them."""

    def step(self, tokens: Tensor, state: RecurrentState) -> StepOutput[RecurrentState]:
        vectors = self.embedding(tokens)  # B E
        state, output, attended = self._advance(self._given(self.scale * vectors), state)
        features = self.readout(vectors, output, attended.context[:, 0])  # B D
        return self._output(features, attended, state)

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        vectors = self.embedding(target)  # B T E
        state = self.begin(memory)
        outputs, looks = [], []
        for given in self._given(self.scale * vectors).unbind(1):
            state, output, attended = self._advance(given, state)
            outputs.append(output)
            looks.append(attended)
        context = torch.cat([attended.context for attended in looks], dim=1)  # B T C
        features = self.readout(vectors, torch.stack(outputs, dim=1), context)  # B T D
        return self._unrolled(features, looks, memory)

    @abstractmethod
    def _given(self, vectors: Tensor) -> Tensor:
        """The pieces' share of the gates: ... E -> ... G, all steps at once where they are known."""

    @abstractmethod
    def _advance(self, given: Tensor, state: RecurrentState) -> tuple[RecurrentState, Tensor, Attended]:
        """One step: the new state, the top output (B D) and what was seen."""


class LookThenStep(_OneByOne):
    """Looks with the state before, then takes the step (Bahdanau et al. 2015, section 3.1).

        c_i = attention(s_{i-1}, memory)
        s_i = f(s_{i-1}, y_{i-1}, c_i)
        y_i = g(y_{i-1}, s_i, c_i)

    In a stack the highest layer asks or, as in GNMT, the lowest.
    """

    def __init__(
        self,
        embedding: Embedding | PointEmbedding,
        look: Look,
        stack: Stack,
        bridge: nn.Module,
        readout: nn.Module,
        *,
        asking: str = "highest",
        head: Head | PointHead,
        scale: float = 1.0,
    ):
        super().__init__(embedding, look, stack, bridge, readout, head=head, scale=scale)
        self.asking = ASKING[asking]

    def _given(self, vectors: Tensor) -> Tensor:
        return self.stack.given(vectors)

    def _advance(self, given: Tensor, state: RecurrentState) -> tuple[RecurrentState, Tensor, Attended]:
        query = self.asking(state.stack, self.stack.width)[:, None]  # B 1 D
        attended = self.look(query, state.keys, state.step[:, None], seen=state.seen)
        stack, output = self.stack.step(given, attended.context[:, 0], state.stack)
        return state.after(stack, attended), output, attended


class StepLookStep(_OneByOne):
    """Takes a step with the piece, looks, and takes another with what it saw (Sennrich et al. 2017, section 2: the
    conditional GRU of Nematus).

        s'_i = f(s_{i-1}, y_{i-1})
        c_i = attention(s'_i, memory)
        s_i = f'(s'_i, c_i)
        y_i = g(y_{i-1}, s_i, c_i)

    So the look knows the piece before, as Bahdanau's does not. In a stack these are the steps of its lowest layer.
    """

    def __init__(
        self,
        embedding: Embedding | PointEmbedding,
        look: Look,
        stack: Stack,
        bridge: nn.Module,
        readout: nn.Module,
        *,
        first: RecurrentLayer,
        head: Head | PointHead,
        scale: float = 1.0,
    ):
        super().__init__(embedding, look, stack, bridge, readout, head=head, scale=scale)
        self.first = first

    def _given(self, vectors: Tensor) -> Tensor:
        share: Tensor = self.first.input(vectors)
        return share

    def _advance(self, given: Tensor, state: RecurrentState) -> tuple[RecurrentState, Tensor, Attended]:
        between = state.stack.with_lowest(self.first.step(given, state.stack.layers[0]))
        query = lowest(between, self.stack.width)[:, None]  # B 1 D
        attended = self.look(query, state.keys, state.step[:, None], seen=state.seen)
        stack, output = self.stack.step(self.stack.given(attended.context[:, 0]), None, between)
        return state.after(stack, attended), output, attended


class StepThenLook(_Recurrent):
    """Takes the step, then looks with the new state (Luong et al. 2015, section 3), without input feeding.

        s_i = f(s_{i-1}, y_{i-1})
        c_i = attention(s_i, memory)
        y_i = g(s_i, c_i)

    No step needs what was seen at another, so a known target is unrolled in one call.
    """

    def step(self, tokens: Tensor, state: RecurrentState) -> StepOutput[RecurrentState]:
        vectors = self.embedding(tokens)  # B E
        stack, output = self.stack.step(self.stack.given(self.scale * vectors), None, state.stack)
        attended = self.look(output[:, None], state.keys, state.step[:, None])
        features = self.readout(vectors, output, attended.context[:, 0])  # B D
        return self._output(features, attended, state.after(stack, attended))

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        vectors = self.embedding(target)  # B T E
        state = self.begin(memory)
        outputs = self.stack.unroll(self.scale * vectors, state.stack)  # B T D
        steps = torch.arange(target.shape[1], device=target.device)[None]  # 1 T
        attended = self.look(outputs, state.keys, steps)
        return self._unrolled(self.readout(vectors, outputs, attended.context), [attended], memory)


class StepThenLookFed(_Recurrent):
    """Luong's decoder with input feeding (section 3.3): the last features are part of the next input.

    s_i = f(s_{i-1}, y_{i-1}, h_{i-1})
    h_i = g(s_i, attention(s_i, memory))
    """

    feeds_back = True

    def step(self, tokens: Tensor, state: RecurrentState) -> StepOutput[RecurrentState]:
        vectors = self.embedding(tokens)  # B E
        state, attended = self._advance(vectors, self.stack.given(self.scale * vectors), state)
        return self._output(state.features, attended, state)

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        vectors = self.embedding(target)  # B T E
        state = self.begin(memory)
        features, looks = [], []
        every = self.stack.given(self.scale * vectors)  # B T G
        for vector, given in zip(vectors.unbind(1), every.unbind(1), strict=True):
            state, attended = self._advance(vector, given, state)
            features.append(state.features)
            looks.append(attended)
        return self._unrolled(torch.stack(features, dim=1), looks, memory)

    def _advance(
        self, vectors: Tensor, given: Tensor, state: RecurrentState
    ) -> tuple[RecurrentState, Attended]:
        stack, output = self.stack.step(given, state.features, state.stack)
        attended = self.look(output[:, None], state.keys, state.step[:, None], seen=state.seen)
        features = self.readout(vectors, output, attended.context[:, 0])  # B D
        return state.after(stack, attended, features), attended


def _looks(attended: Attended, state: RecurrentState) -> Looks:
    """Of one step: B 1 H S."""
    looks = _wanted(attended.weights, attended.beside, state.wanted)
    return {kind: weights[:, :, :, 0] for kind, weights in looks.items()}


def _wanted(cross: Tensor | None, beside: Tensor | None, wanted: frozenset[str]) -> dict[str, Tensor]:
    """B H T S -> B 1 H T S, of the looks that there are and that somebody wants to see."""
    kinds = {CROSS: cross, CONTEXT: beside}
    return {kind: look[:, None] for kind, look in kinds.items() if look is not None and kind in wanted}
