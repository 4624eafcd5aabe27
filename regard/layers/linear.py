"""Matrices, and how they start."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.layers.int8 import Int8
from regard.layers.packed import Packed, can_pack, wide_product


class Linear(nn.Linear):
    """Wx + b, with b = 0 and W drawn after Glorot & Bengio 2010.

    Torch's own start is three times narrower in variance: through a stack of LSTMs so little is left of
    the signal that attention stays even for hundreds of steps. Where the outputs are `blocks` of different
    use, the gates of a cell, each block is a matrix of its own. For predicting alone it may have another `product`.
    """

    product: Packed | Int8 | None = None

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True, blocks: int = 1):
        super().__init__(inputs, outputs, bias=bias)
        glorot_(self.weight, blocks=blocks)
        if bias:
            nn.init.zeros_(self.bias)

    def forward(self, vectors: Tensor) -> Tensor:
        if self.product is not None:
            return self.product(vectors)
        wide = wide_product(vectors, self.weight, self.bias)
        return functional.linear(vectors, self.weight, self.bias) if wide is None else wide


def round_to_int8(module: nn.Module) -> None:
    """Its matrices compute in whole numbers of 8 bits from now on. It can predict, but no longer be trained."""
    for part in _large(module):
        part.product = Int8(part.weight, part.bias)


def pack(module: nn.Module) -> None:
    """Its matrices are laid out for predicting on a CPU, where torch can do that. It can no longer be trained."""
    for part in _large(module):
        if can_pack(part.weight):
            part.product = Packed(part.weight, part.bias)


_WORTH = 32  # numbers a side: smaller matrices gain nothing


def _large(module: nn.Module) -> list[Linear]:
    return [
        part for part in module.modules() if isinstance(part, Linear) and min(part.weight.shape) >= _WORTH
    ]


@torch.no_grad()
def glorot_(weight: Tensor, *, blocks: int = 1) -> None:
    for block in weight.chunk(blocks):
        nn.init.xavier_uniform_(block)


@torch.no_grad()
def orthogonal_(weight: Tensor, *, blocks: int = 1) -> None:
    """For what is multiplied with itself at every step: neither grows nor fades (Saxe et al. 2014)."""
    for block in weight.chunk(blocks):
        nn.init.orthogonal_(block)
