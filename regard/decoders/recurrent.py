"""Recurrent decoders: they differ in when they look and in what they feed back."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention import Attended, Keys, Look
from regard.core.kinds import CROSS
from regard.core.memory import Memory
from regard.core.state import Choice, Looks, StepOutput, Unrolled, moved
from regard.decoders.stack import ASKING, Stack, StackState
from regard.layers import Embedding, Linear


@dataclass(frozen=True)
class RecurrentState:
    stack: StackState
    keys: Keys
    step: Tensor  # B, how many steps were taken
    features: Tensor  # B D, of the last step; zero wide where they are not fed back
    sources: Tensor  # B, which source each row belongs to
    wanted: frozenset[str]

    def select(self, rows: Tensor) -> "RecurrentState":
        sources = self.sources[rows]
        keys = self.keys.select(rows) if moved(sources, self.sources) else self.keys
        stack, step, features = self.stack.select(rows), self.step[rows], self.features[rows]
        return RecurrentState(stack, keys, step, features, sources, self.wanted)

    def after(self, stack: StackState, features: Tensor | None = None) -> "RecurrentState":
        """One step further."""
        features = self.features if features is None else features
        return RecurrentState(stack, self.keys, self.step + 1, features, self.sources, self.wanted)


class _Recurrent(nn.Module):
    """What recurrent decoders are made of."""

    feeds_back = False  # whether the features of a step are part of the next input

    def __init__(self, embedding: Embedding, look: Look, stack: Stack, bridge: nn.Module, readout: nn.Module):
        super().__init__()
        self.embedding = embedding
        self.look = look
        self.stack = stack
        self.bridge = bridge
        self.readout = readout
        self.width: int = readout.width  # type: ignore[assignment]
        self.head = Linear(self.width, embedding.vocabulary)

    def begin(self, memory: Memory) -> RecurrentState:
        rows = torch.arange(len(memory.mask), device=memory.mask.device)  # B
        nothing = memory.annotations.new_zeros(len(rows), self.width if self.feeds_back else 0)  # B D
        first = self.stack.begin(self.bridge(memory))
        keys = self.look.begin(memory)
        return RecurrentState(first, keys, torch.zeros_like(rows), nothing, rows, memory.wanted)


class LookThenStep(_Recurrent):
    """Looks with the state before, then takes the step (Bahdanau et al. 2015, section 3.1).

        c_i = attention(s_{i-1}, memory)
        s_i = f(s_{i-1}, y_{i-1}, c_i)
        y_i = g(y_{i-1}, s_i, c_i)

    In a stack the highest layer asks or, as in GNMT, the lowest.
    """

    def __init__(
        self,
        embedding: Embedding,
        look: Look,
        stack: Stack,
        bridge: nn.Module,
        readout: nn.Module,
        *,
        asking: str = "highest",
    ):
        super().__init__(embedding, look, stack, bridge, readout)
        self.asking = ASKING[asking]

    def step(self, tokens: Tensor, state: RecurrentState) -> StepOutput[RecurrentState]:
        vectors = self.embedding(tokens)  # B E
        state, output, attended = self._advance(self.stack.given(vectors), state)
        features = self.readout(vectors, output, attended.context[:, 0])  # B D
        return StepOutput(self.head(features), _looks(attended, state), state)

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        vectors = self.embedding(target)  # B T E
        state = self.begin(memory)
        outputs, looks = [], []
        for given in self.stack.given(vectors).unbind(1):
            state, output, attended = self._advance(given, state)
            outputs.append(output)
            looks.append(attended)
        context = torch.cat([attended.context for attended in looks], dim=1)  # B T C
        features = self.readout(vectors, torch.stack(outputs, dim=1), context)  # B T D
        return _unrolled(features, looks, memory)

    def _advance(self, given: Tensor, state: RecurrentState) -> tuple[RecurrentState, Tensor, Attended]:
        query = self.asking(state.stack, self.stack.width)[:, None]  # B 1 D
        attended = self.look(query, state.keys, state.step[:, None])
        stack, output = self.stack.step(given, attended.context[:, 0], state.stack)
        return state.after(stack), output, attended


class StepThenLook(_Recurrent):
    """Takes the step, then looks with the new state (Luong et al. 2015, section 3), without input feeding.

        s_i = f(s_{i-1}, y_{i-1})
        c_i = attention(s_i, memory)
        y_i = g(s_i, c_i)

    No step needs what was seen at another, so a known target is unrolled in one call.
    """

    def step(self, tokens: Tensor, state: RecurrentState) -> StepOutput[RecurrentState]:
        vectors = self.embedding(tokens)  # B E
        stack, output = self.stack.step(self.stack.given(vectors), None, state.stack)
        attended = self.look(output[:, None], state.keys, state.step[:, None])
        features = self.readout(vectors, output, attended.context[:, 0])  # B D
        return StepOutput(self.head(features), _looks(attended, state), state.after(stack))

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        vectors = self.embedding(target)  # B T E
        state = self.begin(memory)
        outputs = self.stack.unroll(vectors, state.stack)  # B T D
        steps = torch.arange(target.shape[1], device=target.device)[None]  # 1 T
        attended = self.look(outputs, state.keys, steps)
        return _unrolled(self.readout(vectors, outputs, attended.context), [attended], memory)


class StepThenLookFed(_Recurrent):
    """Luong's decoder with input feeding (section 3.3): the last features are part of the next input.

    s_i = f(s_{i-1}, y_{i-1}, h_{i-1})
    h_i = g(s_i, attention(s_i, memory))
    """

    feeds_back = True

    def step(self, tokens: Tensor, state: RecurrentState) -> StepOutput[RecurrentState]:
        vectors = self.embedding(tokens)  # B E
        state, attended = self._advance(vectors, self.stack.given(vectors), state)
        return StepOutput(self.head(state.features), _looks(attended, state), state)

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        vectors = self.embedding(target)  # B T E
        state = self.begin(memory)
        features, looks = [], []
        for vector, given in zip(vectors.unbind(1), self.stack.given(vectors).unbind(1), strict=True):
            state, attended = self._advance(vector, given, state)
            features.append(state.features)
            looks.append(attended)
        return _unrolled(torch.stack(features, dim=1), looks, memory)

    def _advance(
        self, vectors: Tensor, given: Tensor, state: RecurrentState
    ) -> tuple[RecurrentState, Attended]:
        stack, output = self.stack.step(given, state.features, state.stack)
        attended = self.look(output[:, None], state.keys, state.step[:, None])
        features = self.readout(vectors, output, attended.context[:, 0])  # B D
        return state.after(stack, features), attended


def _looks(attended: Attended, state: RecurrentState) -> Looks:
    """Of one step: B 1 H S."""
    if attended.weights is None or CROSS not in state.wanted:
        return {}
    return {CROSS: attended.weights[:, None, :, 0]}


def _unrolled(features: Tensor, looks: Sequence[Attended], memory: Memory) -> Unrolled:
    """All steps, whether they were looked up one by one or at once."""
    weights = [attended.weights for attended in looks if attended.weights is not None]
    wanted = CROSS in memory.wanted and weights
    attention = {CROSS: torch.cat(weights, dim=2)[:, None]} if wanted else {}  # B 1 H T S
    choices = [attended.choice for attended in looks if attended.choice is not None]
    if not choices:
        return Unrolled(features, attention, loads=memory.loads)
    log_probability = torch.cat([choice.log_probability for choice in choices], dim=2)  # B H T
    entropy = torch.cat([choice.entropy for choice in choices], dim=2)  # B H T
    return Unrolled(features, attention, Choice(log_probability, entropy), memory.loads)
