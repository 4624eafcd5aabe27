"""Batches without their padding."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

WORTH = 0.9  # where at most so many of the places are taken, leaving the others out pays for copying


@dataclass(frozen=True)
class Rows:
    """The places of a batch in which something stands: what each place does by itself is done for them alone."""

    taken: Tensor  # N, their numbers among all B·T places, row by row
    number: Tensor  # B·T, which of the N stands at each place; the first one where nothing does
    shape: torch.Size  # B T

    @staticmethod
    def of(mask: Tensor) -> "Rows | None":
        """Of a mask B T; None where padding may as well stay: outside training, off the CPU, or if there is little."""
        if not torch.is_grad_enabled() or mask.device.type != "cpu" or mask.sum() > WORTH * mask.numel():
            return None
        places = mask.flatten()
        return Rows(places.nonzero()[:, 0], (places.cumsum(0) - 1) * places, mask.shape)


def close(vectors: Tensor, rows: Rows | None) -> Tensor:
    """B T D -> N D, or as they are where padding stays."""
    if rows is None:
        return vectors
    closed: Tensor = _Closed.apply(vectors.flatten(0, 1), rows.taken)  # type: ignore[no-untyped-call]
    return closed


def spread(vectors: Tensor, rows: Rows | None) -> Tensor:
    """N D -> B T D. What comes to stand where nothing stood means nothing, and has no gradient."""
    if rows is None:
        return vectors
    every: Tensor = _Spread.apply(vectors, rows.number, rows.taken)  # type: ignore[no-untyped-call]
    return every.view(*rows.shape, -1)


class _Closed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: Tensor, taken: Tensor) -> Tensor:
        ctx.save_for_backward(taken)
        ctx.places = len(vectors)
        return vectors.index_select(0, taken)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (taken,) = ctx.saved_tensors
        return gradient.new_zeros(ctx.places, gradient.shape[1]).index_put_((taken,), gradient), None


class _Spread(torch.autograd.Function):
    """Its way back picks, which costs less than the adding up of torch's own: each of the N is wanted once."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, number: Tensor, taken: Tensor) -> Tensor:
        ctx.save_for_backward(taken)
        return vectors.index_select(0, number)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (taken,) = ctx.saved_tensors
        return gradient.index_select(0, taken), None, None
