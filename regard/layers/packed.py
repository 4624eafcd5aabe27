"""Matrices laid out as the processor reads them: for predicting, on a CPU."""

import torch
from torch import Tensor
from torch.nn import functional

_ROWS = 64  # that the layout is made for; it serves all other numbers of rows


class Packed:
    """Wx + b in float32, with W laid out once for oneDNN, which torch ships.

    The steps of a search have few rows, and there a product costs what it costs to read W. Each row is summed up in
    the same order, whatever stands beside it. Where gradients are asked for, the product is torch's usual one.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None):
        """Of a matrix O D."""
        self.plain = weight
        self.bias = bias
        with torch.no_grad():
            self.weight = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), _ROWS)

    def __call__(self, vectors: Tensor) -> Tensor:
        """... D -> ... O."""
        if torch.is_grad_enabled():
            return functional.linear(vectors, self.plain, self.bias)
        product: Tensor = torch.ops.mkldnn._linear_pointwise(vectors, self.weight, self.bias, "none", [], "")
        return product


def can_pack() -> bool:
    """Whether this torch was built with oneDNN."""
    return torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, "_linear_pointwise")
