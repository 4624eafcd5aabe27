"""Looks at little, in training on a CPU: there small products are faster than torch's fused kernel."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.attention.slots import Allowed

MOST = 2048  # keys times their width: with more of them the fused kernel is as fast (benchmarks/looks.py)


def is_short(queries: Tensor, keys: Tensor, allowed: Allowed) -> bool:
    """Whether `look` is the faster way to the same: a step of training, on a CPU, to few keys."""
    learned = allowed.prior is not None and allowed.prior.requires_grad
    on_cpu = queries.device.type == "cpu" and keys.shape[2] * keys.shape[3] <= MOST
    return on_cpu and not learned and torch.is_grad_enabled() and queries.requires_grad


def look(queries: Tensor, keys: Tensor, values: Tensor, allowed: Allowed) -> Tensor:
    """The context (B H T V) of queries (B H T K) that are scaled already."""
    context: Tensor = _Look.apply(queries, keys, values, allowed.mask, allowed.prior)  # type: ignore[no-untyped-call]
    return context


class _Look(torch.autograd.Function):
    """WV with W = softmax(QKᵀ).

    Where G is the gradient by it, that by V is WᵀG; with D, that by QKᵀ, those by Q and K are DK and DᵀQ.
    """

    @staticmethod
    def forward(
        ctx: Any, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor, prior: Tensor | None
    ) -> Tensor:
        rows = len(queries)
        q, k, v = (one.flatten(0, 1) for one in (queries, keys, values))  # (B H) T K, (B H) S K, (B H) S V
        scores = _apart(torch.bmm(q, k.mT), rows)  # B H T S
        if prior is not None:
            scores += prior
        weights = scores.masked_fill_(~mask, -torch.inf).softmax(-1).flatten(0, 1)  # (B H) T S
        ctx.save_for_backward(q, k, v, weights)
        return _apart(torch.bmm(weights, v), rows)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_context: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, weights = ctx.saved_tensors
        g = by_context.flatten(0, 1)  # (B H) T V
        by_weights = torch.bmm(g, v.mT)
        by_scores = torch._softmax_backward_data(by_weights, weights, -1, weights.dtype)
        found = torch.bmm(by_scores, k), torch.bmm(by_scores.mT, q), torch.bmm(weights.mT, g)
        return (*(_apart(one, len(by_context)) for one in found), None, None)


def _apart(heads: Tensor, rows: int) -> Tensor:
    """(B H) ... -> B H ..."""
    return heads.view(rows, -1, *heads.shape[1:])
