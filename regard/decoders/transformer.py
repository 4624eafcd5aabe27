"""The Transformer's decoders: with a look across at a memory, or as one stream with the source."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from regard.attention import Block, Cache, Keys, Places
from regard.attention.block import Passed, Wanted, loads
from regard.core.kinds import CONTEXT, CROSS, DECODER
from regard.core.memory import Memory
from regard.core.rows import Rows, close, spread
from regard.core.state import Looks, StepOutput, Unrolled, moved
from regard.layers import Head, PlacedEmbedding, PointHead


@dataclass(frozen=True)
class TransformerState:
    """What was looked at so far, in each layer."""

    caches: tuple[Cache, ...]  # L; empty before the first step, unless the source stands in them
    keys: tuple[Keys, ...]  # L, of the memory; none where source and target are one stream
    context: tuple[Keys, ...]  # L, of what stands beside the source; none where nothing does
    sources: Tensor  # B, which source each row belongs to
    source: Tensor | None  # B S, the source's mask where it is one stream with the target
    pieces: Tensor | None  # B S, ids of the source
    step: int  # how many steps were taken
    wanted: frozenset[str]

    def select(self, rows: Tensor) -> "TransformerState":
        sources = self.sources[rows]
        keys, context, source, pieces = self.keys, self.context, self.source, self.pieces
        if moved(sources, self.sources):
            keys = tuple(one.select(rows) for one in keys)
            context = tuple(one.select(rows) for one in context)
            source = source[rows] if source is not None else None
            pieces = pieces[rows] if pieces is not None else None
        caches = self.caches
        if moved(rows, torch.arange(len(self.sources), device=rows.device)):
            caches = tuple(cache.select(rows) for cache in caches)
        return TransformerState(caches, keys, context, sources, source, pieces, self.step, self.wanted)


class TransformerDecoder(nn.Module):
    """Looks at what it has written, then at the memory (Vaswani et al. 2017, section 3.1).

    A known target is unrolled in one pass: the scope of its look at itself is causal.
    """

    def __init__(
        self, embedding: PlacedEmbedding, blocks: list[Block], norm: nn.Module, *, head: Head | PointHead
    ):
        super().__init__()
        self.embedding = embedding
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.head = head

    @property
    def _blocks(self) -> Sequence[Block]:
        return cast(Sequence[Block], self.blocks)

    def begin(self, memory: Memory) -> TransformerState:
        rows = torch.arange(len(memory.mask), device=memory.mask.device)  # B
        keys = tuple(block.across.begin(memory) for block in self._blocks if block.across is not None)
        context: tuple[Keys, ...] = ()
        if memory.context is not None:
            beside = memory.context
            context = tuple(block.beside.begin(beside) for block in self._blocks if block.beside is not None)
        return TransformerState((), keys, context, rows, None, memory.pieces, 0, memory.wanted)

    def step(self, tokens: Tensor, state: TransformerState) -> StepOutput[TransformerState]:
        features, passed = self._pass(tokens[:, None], state)
        looks = self._looks(passed, state)
        after = replace(state, caches=tuple(one.cache for one in passed), step=state.step + 1)
        steps = {kind: weights[:, :, :, 0] for kind, weights in looks.items()}  # B L H S
        return StepOutput(self.head(features)[:, 0], steps, after, loads(passed))

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        state = self.begin(memory)
        features, passed = self._pass(target, state)
        return Unrolled(features, self._looks(passed, state), loads=memory.loads + loads(passed))

    def _pass(self, tokens: Tensor, state: TransformerState) -> tuple[Any, list[Passed]]:
        """The features of the next pieces (B T), one or all of them."""
        before = state.caches or (None,) * len(self.blocks)
        length = state.step if state.source is None else state.source.shape[1] + state.step
        mask = self.embedding.standing(tokens)  # B T
        standing = torch.arange(state.step + tokens.shape[1], device=tokens.device)[None]  # 1 or B, all steps
        seen = standing  # the places of all that can be looked at
        if state.source is not None:
            standing = state.source.sum(1, keepdim=True) + standing
            source = torch.arange(state.source.shape[1], device=tokens.device).expand(len(tokens), -1)  # B S
            seen = torch.cat([source, standing], dim=1)
        places = Places.of(
            self.embedding.positions,
            standing[:, state.step :],
            seen,
            start=length,
            source=state.source,
            rows=Rows.of(mask),
        )
        vectors = close(self.embedding(tokens, standing[:, state.step :]), places.rows)  # B T D, or N D
        passed: list[Passed] = []
        of_memory, of_context = (keys or (None,) * len(self.blocks) for keys in (state.keys, state.context))
        for block, cache, keys, context, wanted in zip(
            self.blocks, before, of_memory, of_context, self._wanted(state), strict=True
        ):
            one = block(vectors, mask, places, cache, keys, context, wanted=self._kinds(wanted))
            vectors = one.vectors
            passed.append(one)
        look = self._across(passed[self.head.layer], state) if self.head.layer is not None else None
        features = spread(self.norm(vectors), places.rows)  # B T D
        return self.head.features(features, look, state.pieces), passed

    def _wanted(self, state: TransformerState) -> list[frozenset[str]]:
        """Of each layer: what somebody wants to see, and the look that the head reads."""
        every = [state.wanted] * len(self.blocks)
        if self.head.layer is not None:
            every[self.head.layer] = state.wanted | {CROSS}
        return every

    def _kinds(self, wanted: frozenset[str]) -> Wanted:
        """The weights that are needed for what is wanted."""
        return Wanted(own=DECODER in wanted, cross=CROSS in wanted, beside=CONTEXT in wanted)

    def _across(self, passed: Passed, state: TransformerState) -> Tensor | None:
        """One layer's look at the source, B H T S."""
        return passed.cross.weights if passed.cross is not None else None

    def _looks(self, passed: Sequence[Passed], state: TransformerState) -> Looks:
        """Each B L H T S."""
        looks = {}
        if DECODER in state.wanted:
            looks[DECODER] = _stack([one.own.weights for one in passed])
        if CROSS in state.wanted:
            looks[CROSS] = _stack([one.cross.weights for one in passed if one.cross is not None])
        if CONTEXT in state.wanted and state.context:
            looks[CONTEXT] = _stack([one.beside.weights for one in passed if one.beside is not None])
        return looks


class StreamDecoder(TransformerDecoder):
    """Source and target are one stream (decoder-only): what looks at itself sees the source too.

    It is made of its encoder's own layers. The source went through them on its own, for it must not see
    the target; here the target follows. Its looks at the source's part of the stream are its look across.
    """

    def begin(self, memory: Memory) -> TransformerState:
        rows = torch.arange(len(memory.mask), device=memory.mask.device)  # B
        standing = torch.arange(memory.mask.shape[1], device=memory.mask.device)[None]  # 1 S
        places = Places.of(self.embedding.positions, standing, standing)
        caches = tuple(
            block.look.remember(entered, memory.mask, places)
            for block, entered in zip(self._blocks, memory.layers, strict=True)
        )
        return TransformerState(caches, (), (), rows, memory.mask, memory.pieces, 0, memory.wanted)

    def _kinds(self, wanted: frozenset[str]) -> Wanted:
        return Wanted(own=bool(wanted & {DECODER, CROSS}))

    def _across(self, passed: Passed, state: TransformerState) -> Tensor | None:
        assert state.source is not None
        return passed.own.weights[..., : state.source.shape[1]] if passed.own.weights is not None else None

    def _looks(self, passed: Sequence[Passed], state: TransformerState) -> Looks:
        if not state.wanted & {DECODER, CROSS}:
            return {}
        weights = _stack([one.own.weights for one in passed])  # B L H T (S + steps)
        assert state.source is not None
        source = state.source.shape[1]
        parts = {CROSS: weights[..., :source], DECODER: weights[..., source:]}
        return {kind: part for kind, part in parts.items() if kind in state.wanted}


def _stack(weights: Sequence[Tensor | None]) -> Tensor:
    return torch.stack([one for one in weights if one is not None], dim=1)
