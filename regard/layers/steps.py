"""Matrices that are multiplied at every step of a sequence: the gradient by one is a single product over all steps."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional


class Steps:
    """Wx + b at many steps, with the gradients by W and b taken after those of all steps.

    A product for each step would be of few rows, and each would be added to a whole matrix.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None):
        self._noted = _Noted(weight, bias)
        self._before: Tensor = _Before.apply(weight, bias, self._noted)  # type: ignore[no-untyped-call]

    def __call__(self, vectors: Tensor) -> Tensor:
        """... D -> ... O."""
        product: Tensor = _Step.apply(vectors, self._before, self._noted)  # type: ignore[no-untyped-call]
        return product


class _Noted:
    """What the steps leave for the gradients by the matrix."""

    def __init__(self, weight: Tensor, bias: Tensor | None):
        self.weight = weight.detach()
        self.bias = None if bias is None else bias.detach()
        self.vectors: list[Tensor] = []  # of each step, N D
        self.gradients: list[Tensor] = []  # by what came of it, N O

    def together(self) -> tuple[Tensor | None, Tensor | None]:
        """The gradients by W and b."""
        if not self.gradients:
            return None, None
        vectors, gradients = torch.cat(self.vectors), torch.cat(self.gradients)
        self.vectors, self.gradients = [], []
        by_weight = (gradients.T @ vectors).to(self.weight.dtype)
        return by_weight, None if self.bias is None else gradients.sum(0).to(self.bias.dtype)


class _Before(torch.autograd.Function):
    """A nothing that every step depends on, so that its turn comes after theirs."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, noted: _Noted) -> Tensor:  # noqa: ARG004
        ctx.noted = noted
        return weight.new_zeros(())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor | None, ...]:
        return *ctx.noted.together(), None


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: Tensor, before: Tensor, noted: _Noted) -> Tensor:  # noqa: ARG004
        ctx.noted = noted
        ctx.save_for_backward(vectors)
        return functional.linear(vectors, noted.weight, noted.bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (vectors,) = ctx.saved_tensors
        noted, kind = ctx.noted, gradient.dtype  # narrower than the matrix's under autocast
        noted.vectors.append(vectors.reshape(-1, vectors.shape[-1]).to(kind))
        noted.gradients.append(gradient.reshape(-1, gradient.shape[-1]))
        by_vectors = None
        if ctx.needs_input_grad[0]:
            by_vectors = (gradient @ noted.weight.to(kind)).to(vectors.dtype)
        return by_vectors, noted.weight.new_zeros(()), None
