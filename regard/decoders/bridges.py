"""Bridges: from the memory to the decoder's first state, L times B (P D)."""

import torch
from torch import Tensor, nn

from regard.core.masks import mean
from regard.core.memory import Memory
from regard.layers import Linear


class Projection(nn.Module):
    """tanh(Wx) of the encoder's top summary (after Bahdanau et al. 2015, appendix A.2.2); each layer has its W."""

    def __init__(self, memory_width: int, state_width: int, *, layers: int):
        super().__init__()
        self.layers = layers
        self.linear = Linear(memory_width, layers * state_width)

    def forward(self, memory: Memory) -> tuple[Tensor, ...]:
        return torch.tanh(self.linear(memory.summary[:, -1, 0])).chunk(self.layers, dim=-1)


class Mean(nn.Module):
    """tanh(Wx) of the mean annotation (Xu et al. 2015, section 3.1.2)."""

    def __init__(self, memory_width: int, state_width: int, *, layers: int):
        super().__init__()
        self.layers = layers
        self.linear = Linear(memory_width, layers * state_width)

    def forward(self, memory: Memory) -> tuple[Tensor, ...]:
        together = mean(memory.annotations, memory.mask)  # B D
        return torch.tanh(self.linear(together)).chunk(self.layers, dim=-1)


class Last(nn.Module):
    """The encoder's last states as they are, layer by layer (Sutskever et al. 2014): nothing is learned."""

    def __init__(self, memory_width: int, state_width: int, *, layers: int):
        super().__init__()
        assert state_width % memory_width == 0, (memory_width, state_width)
        self.layers = layers

    def forward(self, memory: Memory) -> tuple[Tensor, ...]:
        assert memory.summary.shape[1] == self.layers, (memory.summary.shape, self.layers)
        return tuple(layer.flatten(1) for layer in memory.summary.unbind(1))


class Zeros(nn.Module):
    """Nothing: all that the decoder knows of the source, it must look up."""

    def __init__(self, memory_width: int, state_width: int, *, layers: int):
        super().__init__()
        self.layers = layers
        self.state_width = state_width

    def forward(self, memory: Memory) -> tuple[Tensor, ...]:
        zeros = memory.annotations.new_zeros(memory.mask.shape[0], self.state_width)
        return (zeros,) * self.layers


BRIDGES = {"projection": Projection, "mean": Mean, "last": Last, "zeros": Zeros}
