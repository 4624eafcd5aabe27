"""The Transformer's decoders: with a look across at a memory, or as one stream with the source."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention import Block, Cache, Keys, Places
from regard.attention.block import Passed, loads
from regard.core.kinds import CROSS, DECODER
from regard.core.memory import Memory
from regard.core.pieces import PAD
from regard.core.state import Looks, StepOutput, Unrolled, moved
from regard.layers import Linear, PlacedEmbedding


@dataclass(frozen=True)
class TransformerState:
    """What was looked at so far, in each layer."""

    caches: tuple[Cache, ...]  # L; empty before the first step, unless the source stands in them
    keys: tuple[Keys, ...]  # L, of the memory; none where source and target are one stream
    sources: Tensor  # B, which source each row belongs to
    source: Tensor | None  # B S, the source's mask where it is one stream with the target
    step: int  # how many steps were taken
    wanted: frozenset[str]

    def select(self, rows: Tensor) -> "TransformerState":
        sources = self.sources[rows]
        keys, source = self.keys, self.source
        if moved(sources, self.sources):
            keys = tuple(one.select(rows) for one in keys)
            source = source[rows] if source is not None else None
        caches = self.caches
        if moved(rows, torch.arange(len(self.sources), device=rows.device)):
            caches = tuple(cache.select(rows) for cache in caches)
        return TransformerState(caches, keys, sources, source, self.step, self.wanted)


class TransformerDecoder(nn.Module):
    """Looks at what it has written, then at the memory (Vaswani et al. 2017, section 3.1).

    A known target is unrolled in one pass: the scope of its look at itself is causal.
    """

    def __init__(self, embedding: PlacedEmbedding, blocks: list[Block], norm: nn.Module):
        super().__init__()
        self.embedding = embedding
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.head = Linear(embedding.width, embedding.vocabulary)

    @property
    def _blocks(self) -> Sequence[Block]:
        return cast(Sequence[Block], self.blocks)

    def begin(self, memory: Memory) -> TransformerState:
        rows = torch.arange(len(memory.mask), device=memory.mask.device)  # B
        keys = tuple(block.across.begin(memory) for block in self._blocks if block.across is not None)
        return TransformerState((), keys, rows, None, 0, memory.wanted)

    def step(self, tokens: Tensor, state: TransformerState) -> StepOutput[TransformerState]:
        features, passed = self._pass(tokens[:, None], state)
        looks = self._looks(passed, state)
        after = TransformerState(
            tuple(one.cache for one in passed),
            state.keys,
            state.sources,
            state.source,
            state.step + 1,
            state.wanted,
        )
        steps = {kind: weights[:, :, :, 0] for kind, weights in looks.items()}  # B L H S
        return StepOutput(self.head(features[:, 0]), steps, after, loads(passed))

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        state = self.begin(memory)
        features, passed = self._pass(target, state)
        return Unrolled(features, self._looks(passed, state), loads=memory.loads + loads(passed))

    def _pass(self, tokens: Tensor, state: TransformerState) -> tuple[Tensor, list[Passed]]:
        """The next pieces (B T), one or all of them."""
        before = state.caches or (None,) * len(self.blocks)
        length = state.step if state.source is None else state.source.shape[1] + state.step
        mask = tokens != PAD  # B T
        standing = torch.arange(state.step + tokens.shape[1], device=tokens.device)[None]  # 1 or B, all steps
        seen = standing  # the places of all that can be looked at
        if state.source is not None:
            standing = state.source.sum(1, keepdim=True) + standing
            source = torch.arange(state.source.shape[1], device=tokens.device).expand(len(tokens), -1)  # B S
            seen = torch.cat([source, standing], dim=1)
        vectors = self.embedding(tokens, standing[:, state.step :])  # B T D
        places = Places.of(
            self.embedding.positions, standing[:, state.step :], seen, start=length, source=state.source
        )
        passed: list[Passed] = []
        for block, cache, keys in zip(
            self.blocks, before, state.keys or (None,) * len(self.blocks), strict=True
        ):
            one = block(
                vectors,
                mask,
                places,
                cache,
                keys,
                own_wanted=self._own_wanted(state.wanted),
                cross_wanted=CROSS in state.wanted,
            )
            vectors = one.vectors
            passed.append(one)
        return self.norm(vectors), passed

    def _own_wanted(self, wanted: frozenset[str]) -> bool:
        return DECODER in wanted

    def _looks(self, passed: Sequence[Passed], state: TransformerState) -> Looks:
        """Each B L H T S."""
        looks = {}
        if DECODER in state.wanted:
            looks[DECODER] = _stack([one.own.weights for one in passed])
        if CROSS in state.wanted:
            looks[CROSS] = _stack([one.cross.weights for one in passed if one.cross is not None])
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
        return TransformerState(caches, (), rows, memory.mask, 0, memory.wanted)

    def _own_wanted(self, wanted: frozenset[str]) -> bool:
        return bool(wanted & {DECODER, CROSS})

    def _looks(self, passed: Sequence[Passed], state: TransformerState) -> Looks:
        if not self._own_wanted(state.wanted):
            return {}
        weights = _stack([one.own.weights for one in passed])  # B L H T (S + steps)
        assert state.source is not None
        source = state.source.shape[1]
        parts = {CROSS: weights[..., :source], DECODER: weights[..., source:]}
        return {kind: part for kind, part in parts.items() if kind in state.wanted}


def _stack(weights: Sequence[Tensor | None]) -> Tensor:
    return torch.stack([one for one in weights if one is not None], dim=1)
