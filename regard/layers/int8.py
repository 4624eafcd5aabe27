"""Matrices of small whole numbers: for predicting, on a CPU."""

import torch
from torch import Tensor
from torch.nn import functional

from regard.layers.packed import filling

_LARGEST = 127
_LEAST = 1e-30  # of a row that is all zeros: it stays zeros


class Int8:
    """Wx + b, where W and x are rounded to 8 bits and their products are summed up without any further error.

    Every output has a scale of its own for its weights, and so has every x for its numbers: what stands beside it in
    a batch changes nothing.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None):
        """Of a matrix O D."""
        largest = weight.detach().abs().amax(1).clamp(min=_LEAST)  # O
        self.scales = largest / _LARGEST  # O
        self.weight = (weight.detach() / self.scales[:, None]).round().to(torch.int8).t().contiguous()  # D O
        self.bias = bias.detach() if bias is not None else torch.zeros_like(self.scales)  # O

    def __call__(self, vectors: Tensor) -> Tensor:
        """... D -> ... O."""
        rows = vectors.reshape(-1, vectors.shape[-1])  # N D
        scales = rows.abs().amax(1, keepdim=True).clamp(min=_LEAST).div_(_LARGEST)  # N 1
        rounded = functional.pad((rows / scales).round_().to(torch.int8), (0, 0, 0, filling(len(rows))))
        whole = torch._int_mm(rounded, self.weight)[: len(rows)]  # N O, exact
        products = torch.addcmul(self.bias, whole.float(), scales * self.scales)  # N O
        return products.view(*vectors.shape[:-1], len(self.scales))
