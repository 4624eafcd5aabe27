"""A look at the source and one at what stands beside it."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention.attention import Attended, Look
from regard.attention.slots import Keys
from regard.core.memory import Memory


@dataclass(frozen=True)
class TwoKeys:
    own: Keys
    context: Keys

    def select(self, rows: Tensor) -> "TwoKeys":
        return TwoKeys(self.own.select(rows), self.context.select(rows))


class TwoLooks(nn.Module):
    """At a memory and, with the same query, at the context beside it: what both bring home stands side by side."""

    def __init__(self, own: Look, context: Look):
        super().__init__()
        self.own = own
        self.context = context
        self.width = own.width + context.width

    def begin(self, memory: Memory) -> TwoKeys:
        assert memory.context is not None, "there is nothing beside the source to look at"
        return TwoKeys(self.own.begin(memory), self.context.begin(memory.context))

    def unseen(self, keys: TwoKeys) -> Tensor | None:
        return self.own.unseen(keys.own)

    def forward(self, query: Tensor, keys: TwoKeys, steps: Tensor, *, seen: Tensor | None = None) -> Attended:
        own = self.own(query, keys.own, steps, seen=seen)
        other = self.context(query, keys.context, steps)
        both = torch.cat([own.context, other.context], dim=-1)  # B T (D + C)
        return Attended(both, own.weights, own.choice, other.weights)
