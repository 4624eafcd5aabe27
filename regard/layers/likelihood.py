"""How likely the pieces are that should have been said, without the logits of all of them in memory together."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.core.state import Judged
from regard.layers.packed import Packed, can_pack

ROWS = {"cpu": 128}  # at a time: few enough that their logits stay in a processor's cache
WORTH = 8  # such chunks are worth that the head is laid out for them
MANY_ROWS = 4096  # on other devices, where each call costs more
# Of what is spoken and of what is copied: what cannot be said has a logarithm nevertheless. Below it there is no
# gradient, which would be as large as the share is small.
FLOOR = 1e-30


def judge(
    vectors: Tensor,
    head: nn.Linear,
    wanted: Tensor,
    smoothing: float = 0.0,
    *,
    spoken: Tensor | None = None,
    copied: Tensor | None = None,
) -> Judged:
    """Of vectors (N D) through the head and a softmax, against the pieces wanted (N).

    Or of a mixture: the share `spoken` (N) of what is said so, beside the probability `copied` (N) that the piece
    wanted has from elsewhere. A piece beyond the head's own has no other. Smoothing falls on what is said by the
    head.
    """
    inputs = (vectors, head.weight, head.bias, spoken, copied)
    needed = torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in inputs)
    arguments = (vectors, head.weight, head.bias, wanted, smoothing, spoken, copied, needed)
    total, likelihoods = _Chunks.apply(*arguments)  # type: ignore[no-untyped-call]
    return Judged(total, likelihoods)


class _Chunks(torch.autograd.Function):
    """Head, softmax and loss for some rows at a time, and their gradients at once where they are `needed`.

    With p the softmax, w the piece wanted, ε the smoothing, s the share spoken and c what is copied, a row's
    loss is −(1 − ε)·log(s·p_w + c) − ε·mean log p. Where r = s·p_w / (s·p_w + c), which is one without a mixture,
    its gradient by the logits is (r·(1 − ε) + ε)·p − r·(1 − ε)·onehot(w) − ε/V.
    """

    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        weight: Tensor,
        bias: Tensor,
        wanted: Tensor,
        smoothing: float,
        spoken: Tensor | None,
        copied: Tensor | None,
        needed: bool,
    ) -> tuple[Tensor, Tensor]:
        narrow = torch.is_autocast_enabled(vectors.device.type)
        by_vectors, by_weight, by_bias = (
            torch.zeros_like(one if needed else one[:0], dtype=torch.float32)
            for one in (vectors, weight, bias)
        )
        own = torch.empty(len(vectors), device=vectors.device)  # N, log p_w
        likelihoods = own if spoken is None else torch.empty_like(own)  # N
        normal = torch.empty_like(own)  # N, log Σ exp of the logits
        step = ROWS.get(vectors.device.type, MANY_ROWS)
        say, back = _products(vectors, weight, bias, narrow=narrow, needed=needed)
        for start in range(0, len(vectors), step):
            rows = slice(start, start + step)
            some, aims = vectors[rows], wanted[rows, None]  # n D, n 1
            logits = say(some).float()  # n V
            shares = logits.softmax(-1)  # n V, p
            aims, known = aims.clamp(max=logits.shape[-1] - 1), aims < logits.shape[-1]  # n 1
            normal[rows] = _normal(logits, shares, aims)
            own[rows] = logits.gather(-1, aims).masked_fill(~known, -torch.inf)[:, 0] - normal[rows]
            share: float | Tensor = 1 - smoothing
            if spoken is not None and copied is not None:
                likelihoods[rows] = mixed(own[rows], spoken[rows], copied[rows])
                ratio = 1 - (copied[rows].clamp(min=FLOOR).log() - likelihoods[rows]).exp()  # n, r
                share = (1 - smoothing) * ratio[:, None]  # n 1
            if needed:
                by_logits = shares
                if spoken is not None:
                    by_logits *= share + smoothing
                by_logits.scatter_add_(-1, aims, torch.zeros_like(aims, dtype=torch.float32) - share)
                by_vectors[rows] = back(by_logits)
                if narrow:
                    by_weight += by_logits.T @ some
                else:  # added up where it stands
                    by_weight.addmm_(by_logits.T, some)
                by_bias += by_logits.sum(0)
        smooth = torch.zeros((), device=vectors.device)  # of all rows, the mean log p
        if smoothing:  # what falls on all pieces alike is added once, for all rows
            even = smoothing / len(weight)
            of_all, alike = vectors.float().sum(0), weight.float().sum(0)  # D each
            logits = (of_all * alike).sum() + len(vectors) * bias.float().sum()  # all of them together
            smooth = logits / len(weight) - normal.sum()
            if needed:
                by_vectors -= even * alike
                by_weight -= even * of_all
                by_bias -= even * len(vectors)
        by_spoken = by_copied = None
        if needed and spoken is not None and copied is not None:
            by_both = (smoothing - 1) * (-likelihoods).exp()  # N, by s·p_w + c
            by_spoken = (by_both * own.exp()).masked_fill(spoken < FLOOR, 0)
            by_copied = by_both.masked_fill(copied < FLOOR, 0)
        ctx.save_for_backward(by_vectors, by_weight, by_bias, by_spoken, by_copied)
        ctx.types = [None if one is None else one.dtype for one in (vectors, weight, bias, spoken, copied)]
        ctx.mark_non_differentiable(likelihoods)
        return -(1 - smoothing) * likelihoods.sum() - smoothing * smooth, likelihoods

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        by_total = gradients[0]
        by_vectors, by_weight, by_bias, by_spoken, by_copied = (
            None if saved is None else (by_total * saved).to(kind)
            for saved, kind in zip(ctx.saved_tensors, ctx.types, strict=True)
        )
        return by_vectors, by_weight, by_bias, None, None, by_spoken, by_copied, None


Product = Callable[[Tensor], Tensor]


def _products(
    vectors: Tensor, weight: Tensor, bias: Tensor, *, narrow: bool, needed: bool
) -> tuple[Product, Product]:
    """n D -> n V by the head, and back, which is laid out only where it is needed."""
    say: Product = partial(functional.linear, weight=weight, bias=bias)
    back: Product = partial(functional.linear, weight=weight.T)
    few = len(vectors) < WORTH * ROWS.get(vectors.device.type, MANY_ROWS)
    if narrow or few or not can_pack(vectors, weight):
        return say, back
    return Packed(weight, bias), Packed(weight.T, None) if needed else back


def _normal(logits: Tensor, shares: Tensor, aims: Tensor) -> Tensor:
    """log Σ exp of the logits (n V), from one logit of each row and its share: without a second exponential of all.

    From that of the piece wanted, which takes no look at all the others; but where one of these is next to impossible,
    from that of the likeliest piece. So is it on other devices, which would have to be waited for.
    """
    share = shares.gather(-1, aims)  # n 1
    if share.device.type == "cpu" and share.min() > FLOOR:
        return (logits.gather(-1, aims) - share.log())[:, 0]
    return logits.amax(-1) - shares.amax(-1).log()


def mixed(logs: Tensor, spoken: Tensor, copied: Tensor) -> Tensor:
    """log(s·p + c), from the logarithm of p."""
    return torch.logaddexp(logs + spoken.clamp(min=FLOOR).log(), copied.clamp(min=FLOOR).log())
