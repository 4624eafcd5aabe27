"""Bridges: from the memory to the decoder's first state."""

import torch
from torch import Tensor, nn

from regard.core.memory import Memory


class Projection(nn.Module):
    """tanh(Wx) of the encoder's top summary (Bahdanau et al. 2015, appendix A.2.2); each layer has its W."""

    def __init__(self, memory_width: int, state_width: int, *, layers: int):
        super().__init__()
        self.layers = layers
        self.linear = nn.Linear(memory_width, layers * state_width)

    def forward(self, memory: Memory) -> tuple[Tensor, ...]:
        first = torch.tanh(self.linear(memory.summary[:, -1]))  # B (L P D)
        return first.chunk(self.layers, dim=-1)  # L times B (P D)
