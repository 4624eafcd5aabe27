"""A gate on what was seen."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.attention import Attended, Look
from regard.core.memory import Memory
from regard.layers import Linear


class Gated(nn.Module):
    """σ(wq + b)·context: the query decides how much of what was seen counts (Xu et al. 2015, section 4.2.1)."""

    def __init__(self, look: Look, query_width: int):
        super().__init__()
        self.look = look
        self.width = look.width
        self.gate = Linear(query_width, 1)

    def begin(self, memory: Memory) -> Any:
        return self.look.begin(memory)

    def unseen(self, keys: Any) -> Tensor | None:
        return self.look.unseen(keys)

    def forward(self, query: Tensor, keys: Any, steps: Tensor, *, seen: Tensor | None = None) -> Attended:
        attended = self.look(query, keys, steps, seen=seen)
        return replace(attended, context=torch.sigmoid(self.gate(query)) * attended.context)
