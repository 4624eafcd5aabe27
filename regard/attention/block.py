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

    vectors: Tensor  # B T D
    entered: Tensor  # B T D, what looked at itself
    cache: Cache
    own: Attended
    cross: Attended | None
    load: Load | None


class Block(nn.Module):
    """Each part with a way around it (Vaswani et al. 2017, section 3.1). Encoders have no look across."""

    look: LooksAtItself
    think: Thinks
    across: CrossAttention | None
    around_across: Residual | None

    def __init__(
        self,
        look: LooksAtItself,
        think: Thinks,
        around_look: Residual,
        around_think: Residual,
        *,
        across: CrossAttention | None = None,
        around_across: Residual | None = None,
    ):
        super().__init__()
        assert (across is None) == (around_across is None)
        self.look = look
        self.think = think
        self.around_look = around_look
        self.around_think = around_think
        self.across = across
        self.around_across = around_across

    def forward(
        self,
        vectors: Tensor,
        mask: Tensor,
        places: Places,
        before: Cache | None = None,
        keys: Keys | None = None,
        *,
        own_wanted: bool,
        cross_wanted: bool = False,
    ) -> Passed:
        """B T D with its mask (B T), what came before it, and the memory's keys where there is one."""
        entered = self.around_look.enter(vectors)
        own, cache = self.look(entered, mask, places, before, wanted=own_wanted)
        vectors = self.around_look.leave(vectors, own.context)
        cross = None
        if self.across is not None and self.around_across is not None and keys is not None:
            cross = self.across(self.around_across.enter(vectors), keys, places.index, wanted=cross_wanted)
            vectors = self.around_across.leave(vectors, cross.context)
        thought = self.think(self.around_think.enter(vectors), mask)
        vectors = self.around_think.leave(vectors, thought.vectors)
        return Passed(vectors, entered, cache, own, cross, thought.load)


def loads(passed: Iterable[Passed]) -> tuple[Load, ...]:
    """Of the layers that have experts."""
    return tuple(one.load for one in passed if one.load is not None)
