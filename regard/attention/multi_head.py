"""Attention with matrices around it: of a sequence to itself, and of one to another."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.attention.attention import Attended, Attention
from regard.attention.cache import Cache
from regard.attention.scores import split_heads
from regard.attention.slots import Allowed, Keys
from regard.core.memory import Memory
from regard.core.rows import Rows, close, spread
from regard.layers import Linear, Positions


@dataclass(frozen=True)
class Places:
    """Where the vectors of a pass stand."""

    index: Tensor  # 1 T, their numbers among all that can be looked at; or 1 1, one for all of them
    positions: Positions
    queries: Tensor  # B or 1, T
    keys: Tensor  # B or 1, S, of all that can be looked at
    source: Tensor | None = None  # B S, the mask of the source that they follow in one stream
    rows: Rows | None = None  # where the vectors come without padding, N D instead of B T D

    @staticmethod
    def of(
        positions: Positions,
        queries: Tensor,
        keys: Tensor,
        *,
        start: int = 0,
        source: Tensor | None = None,
        rows: Rows | None = None,
    ) -> "Places":
        """Places of the queries (B T) and of all that they can look at (B S); `start` keys stand before them."""
        index = torch.arange(start, start + queries.shape[1], device=queries.device)[None]  # 1 T
        return Places(index, positions, queries, keys, source, rows)

    def turn(self, heads: Tensor, *, every: int = 1) -> Tensor:
        """Queries and keys, B H T K; or one key for each stretch of `every` places, which stands at its first."""
        return self.positions.turn(heads, self.queries[:, ::every])

    def keeping(self, kept: Tensor, *, of: int) -> "Places":
        """As if, `of` the first places that can be looked at, those kept (B or 1, C) alone were there."""
        index = self.index - of + kept.shape[1]
        return replace(self, index=index, keys=torch.cat([kept, self.keys[:, of:]], dim=1))

    @cached_property
    def bias(self) -> Tensor | None:
        """On the scores of all for all, B H T S. Kept, because every layer needs it."""
        return self.positions.bias(self.queries, self.keys)


class CrossAttention(nn.Module):
    """Looks at a memory through projections of it (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(self, attention: Attention, width: int, memory_width: int):
        super().__init__()
        self.attention = attention
        self.query = Linear(width, width)
        self.keys_and_values = Linear(memory_width, 2 * width, blocks=2)
        self.output = Linear(width, width)

    def begin(self, memory: Memory) -> Keys:
        project = self.keys_and_values
        if memory.values is None:
            keys, values = spread(project(memory.closed), memory.rows).chunk(2, dim=-1)  # B S D each
        else:
            (to_keys, to_values), (shift_keys, shift_values) = project.weight.chunk(2), project.bias.chunk(2)
            keys = functional.linear(memory.annotations, to_keys, shift_keys)  # B S D
            values = functional.linear(memory.values, to_values, shift_values)  # B S D
        heads = split_heads(values, self.attention.heads)
        return Keys(self.attention.score.keys(keys), heads, memory.mask)

    def forward(
        self, query: Tensor, keys: Keys, steps: Tensor, *, wanted: bool = True, rows: Rows | None = None
    ) -> Attended:
        """B T D, or N D of some rows; and so is the context."""
        queries = spread(self.query(query), rows)
        attended: Attended = self.attention(queries, keys, steps, wanted=wanted)
        return replace(attended, context=self.output(close(attended.context, rows)))


class SelfAttention(nn.Module):
    """A sequence looks at itself and at what came before it.

    Without projections it has no parameters of its own: with the `dot` score the weights are softmax(x·x).
    """

    def __init__(self, attention: Attention, width: int, *, projected: bool = True):
        super().__init__()
        self.attention = attention
        self.width = width
        self.project = Linear(width, 3 * width, blocks=3) if projected else None
        self.output = Linear(width, width) if projected else nn.Identity()

    def remember(self, vectors: Tensor, mask: Tensor, places: Places) -> Cache:
        """What others will look at: B T D."""
        if self.project is None:
            return self._remember(vectors, vectors, mask, places)
        weight, bias = self.project.weight[self.width :], self.project.bias[self.width :]
        keys, values = functional.linear(vectors, weight, bias).chunk(2, dim=-1)
        return self._remember(keys, values, mask, places)

    def forward(
        self, vectors: Tensor, mask: Tensor, places: Places, before: Cache | None = None, *, wanted: bool
    ) -> tuple[Attended, Cache]:
        """B T D and its mask (B T). Gives what was seen, and what the next can look at.

        Where the places say so, vectors and context are N D.
        """
        if self.project is None:
            query = keys = values = spread(vectors, places.rows)  # B T D
        else:
            query, keys, values = spread(self.project(vectors), places.rows).chunk(3, dim=-1)  # B T D each
        own = self._remember(keys, values, mask, places)
        cache = own if before is None else before.append(own.keys, own.values, mask)
        queries = places.turn(self.attention.score.queries(query, places.index))  # B H T K
        attended = self._look(queries, cache, query, mask, places, wanted=wanted)
        return replace(attended, context=self.output(close(attended.context, places.rows))), cache

    def _look(
        self, queries: Tensor, cache: Cache, query: Tensor, mask: Tensor, places: Places, *, wanted: bool
    ) -> Attended:
        allowed = biased(self.attention.scope(places.index, query, cache.mask), places.bias)
        return self.attention.attend(queries, cache, allowed, wanted=wanted)

    def _remember(self, keys: Tensor, values: Tensor, mask: Tensor, places: Places) -> Cache:
        turned = places.turn(self.attention.score.keys(keys))  # B H T K
        return Cache.of(turned, split_heads(values, self.attention.heads), mask)


def biased(allowed: Allowed, bias: Tensor | None) -> Allowed:
    if bias is None:
        return allowed
    return Allowed(allowed.mask, bias if allowed.prior is None else allowed.prior + bias)
