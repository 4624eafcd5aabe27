"""The Transformer's encoder."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import nn

from regard.attention import Block, Places
from regard.attention.block import Wanted, loads
from regard.core.batch import Sequences
from regard.core.kinds import ENCODER, KINDS
from regard.core.masks import mean
from regard.core.memory import Memory
from regard.core.rows import Rows, close, spread
from regard.layers import PlacedEmbedding, Positions


class TransformerEncoder(nn.Module):
    """All positions look at each other, layer after layer (Vaswani et al. 2017, section 3.1).

    With `shared_layers` the memory also holds what each layer looked at, for a decoder made of the
    same layers: the two are then one stream. The scope of its layers is causal then, and `whole` lets the
    source see all of itself nevertheless.
    """

    def __init__(
        self,
        embedding: PlacedEmbedding,
        blocks: list[Block],
        norm: nn.Module,
        *,
        shared_layers: bool = False,
        whole: bool = False,
    ):
        super().__init__()
        self.embedding = embedding
        self.width = embedding.width
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.shared_layers = shared_layers
        self.whole = whole

    @property
    def layers(self) -> list[Block]:
        return list(cast(Sequence[Block], self.blocks))

    def encode(self, source: Sequences, wanted: frozenset[str] = KINDS) -> Memory:
        mask = source.mask  # B S
        standing = torch.arange(mask.shape[1], device=mask.device)[None]  # 1 S
        places = Places.of(self.embedding.positions, standing, standing, rows=Rows.of(mask))
        vectors = close(self.embedding(source.items, standing), places.rows)  # B S D, or N D
        if self.whole:
            places = replace(places, index=standing[:, -1:])  # 1 1: all see what the last one sees
        passed = []
        for block in self.blocks:
            passed.append(block(vectors, mask, places, wanted=Wanted(own=ENCODER in wanted)))
            vectors = passed[-1].vectors
        annotations = spread(self.norm(vectors), places.rows)  # B S D
        weights = [one.own.weights for one in passed if one.own.weights is not None]
        return Memory(
            annotations,
            mask,
            mean(annotations, mask)[:, None, None],  # B 1 1 D
            wanted,
            {ENCODER: torch.stack(weights, dim=1)} if ENCODER in wanted and weights else {},
            tuple(spread(one.entered, places.rows) for one in passed) if self.shared_layers else (),
            loads(passed),
            pieces=source.pieces,
        )


class Refining(nn.Module):
    """Annotations of another encoder that look at each other, layer after layer.

    Over the patches of a picture that is a ViT (Dosovitskiy et al. 2021). Where they stand, they know already.
    """

    def __init__(self, below: nn.Module, blocks: list[Block], norm: nn.Module):
        super().__init__()
        self.below = below
        self.width: int = below.width  # type: ignore[assignment]
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.positions = Positions(self.width, heads=1, longest=1, causal=False)

    def encode(self, source: Any, wanted: frozenset[str] = KINDS) -> Memory:
        memory: Memory = self.below.encode(source, wanted)  # type: ignore[operator]
        standing = torch.arange(memory.mask.shape[1], device=memory.mask.device)[None]  # 1 S
        places = Places.of(self.positions, standing, standing)
        vectors, passed = memory.annotations, []
        for block in self.blocks:
            passed.append(block(vectors, memory.mask, places, wanted=Wanted(own=ENCODER in wanted)))
            vectors = passed[-1].vectors
        annotations = self.norm(vectors)  # B S D
        weights = [one.own.weights for one in passed if one.own.weights is not None]
        return replace(
            memory,
            annotations=annotations,
            summary=mean(annotations, memory.mask)[:, None, None],  # B 1 1 D
            attention={ENCODER: torch.stack(weights, dim=1)} if ENCODER in wanted and weights else {},
            loads=loads(passed),
        )
