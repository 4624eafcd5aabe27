"""A layer of a Transformer: looks at itself, perhaps at a memory, then thinks about each position."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor, nn

from regard.attention.attention import Attended
from regard.attention.cache import Cache
from regard.attention.multi_head import CrossAttention, Places
from regard.attention.slots import Keys
from regard.core.load import Load
from regard.layers import Residual, Thought


class LooksAtItself(Protocol):
    def remember(self, vectors: Tensor, mask: Tensor, places: Places) -> Cache: ...

    def __call__(
        self, vectors: Tensor, mask: Tensor, places: Places, before: Cache | None = None, *, wanted: bool
    ) -> tuple[Attended, Cache]: ...


class Thinks(Protocol):
    def __call__(self, vectors: Tensor, mask: Tensor | None = None) -> Thought: ...


@dataclass(frozen=True)
class Passed:
    """What one block made of a pass."""

    vectors: Tensor  # as they came, B T D or N D
    entered: Tensor  # as they came, what looked at itself
    cache: Cache
    own: Attended
    cross: Attended | None
    beside: Attended | None
    load: Load | None


@dataclass(frozen=True)
class Wanted:
    """Which looks of a block somebody wants to see."""

    own: bool = False
    cross: bool = False
    beside: bool = False


class Block(nn.Module):
    """Each part with a way around it (Vaswani et al. 2017, section 3.1). Encoders have no look across.

    After the look across at the source there may be one more, at what stands `beside` it.
    """

    look: LooksAtItself
    think: Thinks
    across: CrossAttention | None
    around_across: Residual | None
    beside: CrossAttention | None
    around_beside: Residual | None

    def __init__(
        self,
        look: LooksAtItself,
        think: Thinks,
        around_look: Residual,
        around_think: Residual,
        *,
        across: CrossAttention | None = None,
        around_across: Residual | None = None,
        beside: CrossAttention | None = None,
        around_beside: Residual | None = None,
    ):
        super().__init__()
        assert (across is None) == (around_across is None)
        assert (beside is None) == (around_beside is None)
        self.look = look
        self.think = think
        self.around_look = around_look
        self.around_think = around_think
        self.across = across
        self.around_across = around_across
        self.beside = beside
        self.around_beside = around_beside

    def forward(
        self,
        vectors: Tensor,
        mask: Tensor,
        places: Places,
        before: Cache | None = None,
        keys: Keys | None = None,
        context: Keys | None = None,
        *,
        wanted: Wanted,
    ) -> Passed:
        """B T D with its mask (B T), what came before it, and the keys of a memory and its context, if any.

        Where the places say so, padding is left out: N D.
        """
        entered = self.around_look.enter(vectors)
        own, cache = self.look(entered, mask, places, before, wanted=wanted.own)
        vectors = self.around_look.leave(vectors, own.context)
        cross = beside = None
        if self.across is not None and self.around_across is not None and keys is not None:
            query = self.around_across.enter(vectors)
            cross = self.across(query, keys, places.index, wanted=wanted.cross, rows=places.rows)
            vectors = self.around_across.leave(vectors, cross.context)
        if self.beside is not None and self.around_beside is not None and context is not None:
            query = self.around_beside.enter(vectors)
            beside = self.beside(query, context, places.index, wanted=wanted.beside, rows=places.rows)
            vectors = self.around_beside.leave(vectors, beside.context)
        thought = self.think(self.around_think.enter(vectors), mask if places.rows is None else None)
        vectors = self.around_think.leave(vectors, thought.vectors)
        return Passed(vectors, entered, cache, own, cross, beside, thought.load)


def loads(passed: Iterable[Passed]) -> tuple[Load, ...]:
    """Of the layers that have experts."""
    return tuple(one.load for one in passed if one.load is not None)
