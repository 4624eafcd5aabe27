"""The convolutional decoder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from regard.attention import Attended, Attention, Keys
from regard.core.kinds import CROSS
from regard.core.memory import Memory
from regard.core.state import Choice, Looks, StepOutput, Unrolled, moved
from regard.layers import (
    Convolution,
    Dropout,
    Head,
    PlacedEmbedding,
    PointHead,
    begin_steady,
    begin_tables,
    steady_linear,
    steady_sum,
)


@dataclass(frozen=True)
class ConvolutionalState:
    """What each layer will still see of the steps before."""

    inputs: tuple[Tensor, ...]  # L times B (k − 1) D
    keys: tuple[Keys, ...]  # of the memory, one for each layer, or one for all
    sources: Tensor  # B, which source each row belongs to
    pieces: Tensor | None  # B S, ids of the source
    step: int  # how many steps were taken
    wanted: frozenset[str]

    def select(self, rows: Tensor) -> "ConvolutionalState":
        sources = self.sources[rows]
        keys, inputs, pieces = self.keys, self.inputs, self.pieces
        if moved(sources, self.sources):
            keys = tuple(one.select(rows) for one in keys)
            pieces = pieces[rows] if pieces is not None else None
        if moved(rows, torch.arange(len(self.sources), device=rows.device)):
            inputs = tuple(one[rows] for one in inputs)
        return ConvolutionalState(inputs, keys, sources, pieces, self.step, self.wanted)


@dataclass(frozen=True)
class Passed:
    """What one layer made of a pass."""

    vectors: Tensor  # B T D
    inputs: Tensor  # B (k − 1) D, for the steps to come
    attended: Attended


class ConvolutionalLayer(nn.Module):
    """A convolution over what was written, then a look at the memory (Gehring et al. 2017, section 3.3).

        h = glu(W[x₋₂ x₋₁ x])
        d = √½·(W h + b + g)             equation 1; g is the previous piece in its place
        c = √m·attention(d, memory)      equation 2; m is the source's length (section 3.4)
        y = √½·(x + √½·(h + U c))

    The scaling, and U between the widths of pieces and of convolutions, are the authors' own.
    """

    def __init__(
        self,
        pieces: int,
        width: int,
        look: Attention,
        *,
        kernel: int = 3,
        dropout: float = 0.0,
        weight_norm: bool = False,
    ):
        super().__init__()
        self.width = width
        self.dropout = Dropout(dropout)
        self.convolution = Convolution(width, kernel=kernel, dropout=dropout, weight_norm=weight_norm)
        self.query = steady_linear(width, pieces, weight_norm=weight_norm)
        self.look = look
        self.answer = steady_linear(look.width, width, weight_norm=weight_norm)

    def begin(self, rows: int, like: Tensor) -> Tensor:
        """Nothing stands before the first step."""
        return like.new_zeros(rows, self.convolution.kernel - 1, self.width)  # B (k − 1) D

    def forward(
        self, vectors: Tensor, pieces: Tensor, before: Tensor, keys: Keys, steps: Tensor, *, wanted: bool
    ) -> Passed:
        """B T D, the previous pieces (B T E), the inputs before (B k−1 D), the steps' numbers (1 T)."""
        inputs = torch.cat([before, self.dropout(vectors)], dim=1)  # B (k − 1 + T) D
        hidden = self.convolution(inputs)  # B T D
        query = steady_sum(self.query(hidden), pieces)  # B T E
        attended: Attended = self.look(query, keys, steps, wanted=wanted)
        spread = keys.mask.sum(1).sqrt().repeat_interleave(keys.share)[:, None, None]  # B 1 1
        hidden = steady_sum(hidden, self.answer(attended.context * spread))  # B T D
        return Passed(steady_sum(vectors, hidden), inputs[:, vectors.shape[1] :], attended)


class ConvolutionalDecoder(nn.Module):
    """Sees a few steps back in each layer, and looks at the memory in each (Gehring et al. 2017, section 3.3).

    No layer sees a step to come, so a known target is unrolled in one pass. The head, which may be tied to the
    table of pieces, has no weight normalisation.
    """

    def __init__(
        self,
        embedding: PlacedEmbedding,
        looks: Sequence[Attention],
        *,
        width: int,
        kernel: int = 3,
        dropout: float = 0.0,
        weight_norm: bool = False,
        head: Head | PointHead,
    ):
        super().__init__()
        begin_tables(embedding)
        self.embedding = embedding
        self.dropout = Dropout(dropout)
        self.rise = steady_linear(embedding.width, width, dropout=dropout, weight_norm=weight_norm)
        self.layers = nn.ModuleList(
            ConvolutionalLayer(
                embedding.width, width, look, kernel=kernel, dropout=dropout, weight_norm=weight_norm
            )
            for look in looks
        )
        self.fall = steady_linear(width, embedding.width, weight_norm=weight_norm)
        self.head = head
        begin_steady(self.head, dropout=dropout)

    @property
    def _stack(self) -> Sequence[ConvolutionalLayer]:
        return cast(Sequence[ConvolutionalLayer], self.layers)

    def begin(self, memory: Memory) -> ConvolutionalState:
        rows = torch.arange(len(memory.mask), device=memory.mask.device)  # B
        inputs = tuple(layer.begin(len(rows), memory.annotations) for layer in self._stack)
        return ConvolutionalState(inputs, self._keys(memory), rows, memory.pieces, 0, memory.wanted)

    def step(self, tokens: Tensor, state: ConvolutionalState) -> StepOutput[ConvolutionalState]:
        features, passed = self._pass(tokens[:, None], state)
        looks = {
            kind: weights[:, :, :, 0] for kind, weights in _looks(passed, state.wanted).items()
        }  # B L H S
        after = replace(state, inputs=tuple(one.inputs for one in passed), step=state.step + 1)
        return StepOutput(self.head(features)[:, 0], looks, after)

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        features, passed = self._pass(target, self.begin(memory))
        return Unrolled(features, _looks(passed, memory.wanted), _choice(passed), memory.loads)

    def _keys(self, memory: Memory) -> tuple[Keys, ...]:
        """A score that learns nothing gives all layers the same keys."""
        learned = any(True for _ in self._stack[0].look.get_submodule("score").parameters())
        layers = self._stack if learned else self._stack[:1]
        return tuple(layer.look.begin(memory) for layer in layers)

    def _pass(self, tokens: Tensor, state: ConvolutionalState) -> tuple[Any, list[Passed]]:
        """The features of the next pieces (B T), one or all of them."""
        steps = torch.arange(state.step, state.step + tokens.shape[1], device=tokens.device)[None]  # 1 T
        pieces = self.embedding(tokens, steps)  # B T E
        vectors = self.rise(pieces)  # B T D
        keys = state.keys if len(state.keys) == len(self.layers) else state.keys * len(self.layers)
        wanted = [CROSS in state.wanted] * len(self.layers)
        if self.head.layer is not None:
            wanted[self.head.layer] = True
        passed: list[Passed] = []
        for layer, before, key, one in zip(self._stack, state.inputs, keys, wanted, strict=True):
            passed.append(layer(vectors, pieces, before, key, steps, wanted=one))
            vectors = passed[-1].vectors
        look = passed[self.head.layer].attended.weights if self.head.layer is not None else None
        return self.head.features(self.dropout(self.fall(vectors)), look, state.pieces), passed


def _looks(passed: Sequence[Passed], wanted: frozenset[str]) -> Looks:
    """B L H T S."""
    if CROSS not in wanted:
        return {}
    weights = [one.attended.weights for one in passed if one.attended.weights is not None]
    return {CROSS: torch.stack(weights, dim=1)}


def _choice(passed: Sequence[Passed]) -> Choice | None:
    """The draws of all layers side by side, as those of heads are."""
    choices = [one.attended.choice for one in passed if one.attended.choice is not None]
    if not choices:
        return None
    log_probability = torch.cat([choice.log_probability for choice in choices], dim=1)  # B (L H) T
    return Choice(log_probability, torch.cat([choice.entropy for choice in choices], dim=1))
