"""Looks of a long source at itself that cost less than all with all (Liu et al. 2018, section 4.2.4).

Where somebody wants the weights, both give them for all pairs of positions, as the full look does. In one stream
a target follows, which is short: it sees all of itself up to its own place, and what the look leaves of its source.
"""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from regard.attention.attention import Attended, Attention
from regard.attention.cache import Cache
from regard.attention.multi_head import Places, SelfAttention, biased
from regard.attention.scores import split_heads
from regard.attention.slots import Keys
from regard.layers import Linear


class LocalSelfAttention(SelfAttention):
    """The source is cut into blocks, and each position looks at its own block: linear in the length.

    A target that follows in one stream begins a block of its own.
    """

    def __init__(self, attention: Attention, width: int, *, block: int = 256, projected: bool = True):
        super().__init__(attention, width, projected=projected)
        self.block = block

    def remember(self, vectors: Tensor, mask: Tensor, places: Places) -> Cache:
        first = super().remember(vectors[:, :1], mask[:, :1], replace(places, queries=places.queries[:, :1]))
        return Cache.of(first.keys[:, :, :0], first.values[:, :, :0], mask[:, :0])

    def _look(
        self, queries: Tensor, cache: Cache, query: Tensor, mask: Tensor, places: Places, *, wanted: bool
    ) -> Attended:
        if places.source is None:
            return self._look_in_blocks(queries, cache, query, mask, places, wanted=wanted)
        source = places.source.shape[1]
        alone = places.keeping(places.keys[:, :0], of=source)
        attended = super()._look(queries, cache, query, mask, alone, wanted=wanted)
        weights = functional.pad(attended.weights, (source, 0)) if attended.weights is not None else None
        return replace(attended, weights=weights)  # B H T (S + steps)

    def _look_in_blocks(
        self, queries: Tensor, cache: Cache, query: Tensor, mask: Tensor, places: Places, *, wanted: bool
    ) -> Attended:
        length = mask.shape[1]
        size = min(self.block, length)
        real = _cut(mask, size).flatten(0, 1)  # B·N s
        keys = Keys(_rows(cache.keys, size), _rows(cache.values, size), real)
        somewhere = real | ~real.any(1, keepdim=True)  # a block of padding alone looks at its padding
        scope = self.attention.scope(places.index[:, :size], query, somewhere)
        # Biases go by distance: what they are in the first block, they are in every block.
        bias = places.positions.bias(places.queries[:, :size], places.keys[:, :size])
        attended = self.attention.attend(_rows(queries, size), keys, biased(scope, bias), wanted=wanted)
        context = attended.context.reshape(len(mask), -1, self.width)[:, :length]  # B S D
        weights = attended.weights
        if weights is not None:
            blocks = (weights * real[:, None, None]).view(len(mask), -1, *weights.shape[1:])  # B N H s s
            spread = torch.diag_embed(blocks.movedim(1, -1)).movedim((-2, -1), (2, 4))  # B H N s N s
            weights = spread.flatten(4).flatten(2, 3)[:, :, :length, :length]  # B H S S
        return replace(attended, context=context, weights=weights)


class CompressedSelfAttention(SelfAttention):
    """Keys and values of every `compression` neighbours become one, by a convolution whose stride is its width.

    Where weights are wanted, that of a compressed key is shared out evenly among the positions it stands for.
    """

    def __init__(self, attention: Attention, width: int, *, compression: int = 3, projected: bool = True):
        super().__init__(attention, width, projected=projected)
        self.compression = compression
        self.compress_keys = Linear(compression * width, width)
        self.compress_values = Linear(compression * width, width)

    def _remember(self, keys: Tensor, values: Tensor, mask: Tensor, places: Places) -> Cache:
        if places.source is not None:
            return super()._remember(keys, values, mask, places)
        real = mask[..., None]  # B S 1
        keys = self.compress_keys(_cut(keys.masked_fill(~real, 0), self.compression).flatten(2))  # B C D
        values = self.compress_values(_cut(values.masked_fill(~real, 0), self.compression).flatten(2))
        turned = places.turn(self.attention.score.keys(keys), every=self.compression)  # B H C K
        return Cache.of(
            turned, split_heads(values, self.attention.heads), _cut(mask, self.compression).any(-1)
        )

    def _look(
        self, queries: Tensor, cache: Cache, query: Tensor, mask: Tensor, places: Places, *, wanted: bool
    ) -> Attended:
        source = mask if places.source is None else places.source
        length = source.shape[1]
        fewer = places.keeping(places.keys[:, : length : self.compression], of=length)
        attended = super()._look(queries, cache, query, mask, fewer, wanted=wanted)
        weights = self._spread(attended.weights, source) if attended.weights is not None else None
        return replace(attended, weights=weights)

    def _spread(self, weights: Tensor, source: Tensor) -> Tensor:
        """B H T (C + steps) -> B H T (S + steps)"""
        real = _cut(source, self.compression)  # B C c
        shares = real / real.sum(-1, keepdim=True).clamp(min=1)
        cells, target = torch.split(weights, [real.shape[1], weights.shape[-1] - real.shape[1]], dim=-1)
        spread = (cells[..., None] * shares[:, None, None]).flatten(3)  # B H T (C c)
        return torch.cat([spread[..., : source.shape[1]], target], dim=-1)


def _cut(sequence: Tensor, size: int) -> Tensor:
    """B S ... -> B N s ..., the last stretch filled up with zeros."""
    rows, length, *rest = sequence.shape
    if short := -length % size:
        sequence = torch.cat([sequence, sequence.new_zeros(rows, short, *rest)], dim=1)
    return sequence.reshape(rows, -1, size, *rest)


def _rows(heads: Tensor, size: int) -> Tensor:
    """B H S K -> B·N H s K: blocks side by side, as if each were a source."""
    return _cut(heads.transpose(1, 2), size).flatten(0, 1).transpose(1, 2)
