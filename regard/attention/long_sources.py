"""Looks of a long source at itself that cost less than all with all (Liu et al. 2018, section 4.2.4).

Where somebody wants the weights, both give them for all pairs of positions, as the full look does.
"""

from dataclasses import replace

import torch
from torch import Tensor

from regard.attention.attention import Attended, Attention
from regard.attention.cache import Cache
from regard.attention.multi_head import Places, SelfAttention, biased
from regard.attention.scores import split_heads
from regard.attention.slots import Keys
from regard.layers import Linear


class LocalSelfAttention(SelfAttention):
    """The source is cut into blocks, and each position looks at its own block: linear in the length."""

    def __init__(self, attention: Attention, width: int, *, block: int = 256, projected: bool = True):
        super().__init__(attention, width, projected=projected)
        self.block = block

    def _look(
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
        scope = self.attention.scope(places.index, query, cache.mask)
        bias = places.positions.bias(places.queries, places.keys[:, :: self.compression])  # B H S C
        attended = self.attention.attend(queries, cache, biased(scope, bias), wanted=wanted)
        weights = attended.weights
        if weights is not None:
            real = _cut(mask, self.compression)  # B C c
            shares = real / real.sum(-1, keepdim=True).clamp(min=1)
            spread = weights[..., None] * shares[:, None, None]  # B H S C c
            weights = spread.flatten(3)[..., : mask.shape[1]]  # B H S S
        return replace(attended, weights=weights)


def _cut(sequence: Tensor, size: int) -> Tensor:
    """B S ... -> B N s ..., the last stretch filled up with zeros."""
    rows, length, *rest = sequence.shape
    if short := -length % size:
        sequence = torch.cat([sequence, sequence.new_zeros(rows, short, *rest)], dim=1)
    return sequence.reshape(rows, -1, size, *rest)


def _rows(heads: Tensor, size: int) -> Tensor:
    """B H S K -> B·N H s K: blocks side by side, as if each were a source."""
    return _cut(heads.transpose(1, 2), size).flatten(0, 1).transpose(1, 2)
