"""Matrices laid out as the processor reads them, on a CPU."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

_ROWS = 64  # that the layout is made for; it serves all other numbers of rows
WIDE = 512  # numbers a side, and rows: in training it is worth laying out such a matrix for every product


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
            self.weight = _laid_out(weight)

    def __call__(self, vectors: Tensor) -> Tensor:
        """... D -> ... O."""
        if torch.is_grad_enabled():
            return functional.linear(vectors, self.plain, self.bias)
        lacking = filling(vectors.numel() // vectors.shape[-1])
        if not lacking:
            return _product(vectors, self.weight, self.bias)
        rows = functional.pad(vectors.reshape(-1, vectors.shape[-1]), (0, 0, 0, lacking))  # N D
        return _product(rows, self.weight, self.bias)[:-lacking].view(*vectors.shape[:-1], -1)


def wide_product(vectors: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor | None:
    """Wx + b in training, where oneDNN is the faster way to it and to the gradient by x; otherwise None."""
    is_wide = min(*weight.shape, vectors.numel() // vectors.shape[-1]) >= WIDE
    if not is_wide or not torch.is_grad_enabled() or not weight.requires_grad:
        return None
    if torch.is_autocast_enabled("cpu") or not can_pack(vectors, weight):
        return None
    product: Tensor = _Wide.apply(vectors, weight, bias)  # type: ignore[no-untyped-call]
    return product


class _Wide(torch.autograd.Function):
    """The gradient by the matrix stays with torch's usual product, which is the faster one for it."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(vectors, weight)
        return _product(vectors, _laid_out(weight), bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        vectors, weight = ctx.saved_tensors
        by_vectors, by_weight, by_bias = ctx.needs_input_grad
        rows = gradient.reshape(-1, gradient.shape[-1])  # N O
        return (
            _product(gradient, _laid_out(weight.T), None) if by_vectors else None,
            rows.T @ vectors.reshape(-1, vectors.shape[-1]) if by_weight else None,
            rows.sum(0) if by_bias else None,
        )


def _laid_out(weight: Tensor) -> Tensor:
    laid: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), _ROWS)
    return laid


def _product(vectors: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(vectors, weight, bias, "none", [], "")
    return product


def filling(rows: int) -> int:
    """Rows of zeros to multiply besides: a program is made for every number of rows, so let there be few numbers."""
    step = 1 if rows <= 8 else 8 if rows <= 64 else 32
    return -rows % step


def can_pack(*tensors: Tensor) -> bool:
    """Whether this torch was built with oneDNN, and these are numbers that it is taken for."""
    known = torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return known and all(one.device.type == "cpu" and one.dtype == torch.float32 for one in tensors)
