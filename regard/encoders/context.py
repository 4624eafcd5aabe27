"""An encoder of series that have something beside them."""

from dataclasses import replace

from torch import nn

from regard.core.batch import Sensed
from regard.core.kinds import KINDS
from regard.core.memory import Memory


class ContextEncoder(nn.Module):
    """Reads a series, and with another encoder what stands beside it: a memory with a memory as its context."""

    def __init__(self, own: nn.Module, context: nn.Module):
        super().__init__()
        self.own = own
        self.context = context
        self.width: int = own.width  # type: ignore[assignment]

    def encode(self, source: Sensed, wanted: frozenset[str] = KINDS) -> Memory:
        beside: Memory = self.context.encode(source.context, wanted)  # type: ignore[operator]
        own: Memory = self.own.encode(source.series, wanted)  # type: ignore[operator]
        return replace(own, context=beside, loads=own.loads + beside.loads)
