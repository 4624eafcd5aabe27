"""How likely a model finds the pieces that it should have said."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

ROWS = {"cpu": 128}  # at a time: few enough that their logits stay in a processor's cache
MANY_ROWS = 4096  # on other devices, where each call costs more


@dataclass(frozen=True)
class Judged:
    total: Tensor  # what to go backward from: the smoothed loss, summed
    likelihoods: Tensor  # N, log-likelihood of each piece without smoothing, no gradient


@dataclass(frozen=True)
class Logits:
    """What a model said, in full."""

    logits: Tensor  # N V

    def judge(self, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Against the pieces wanted (N)."""
        log_probabilities = functional.log_softmax(self.logits.float(), dim=-1)  # N V
        likelihoods = log_probabilities.gather(-1, wanted[:, None])[:, 0]  # N
        total = -(1 - smoothing) * likelihoods.sum()
        if smoothing:
            total = total - smoothing * log_probabilities.mean(dim=-1).sum()
        return Judged(total, likelihoods.detach())


@dataclass(frozen=True)
class Features:
    """What a model is about to say: the logits of all pieces never stand in memory together."""

    features: Tensor  # N D
    head: nn.Linear

    @property
    def logits(self) -> Tensor:
        logits: Tensor = self.head(self.features)  # N V
        return logits

    def judge(self, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Against the pieces wanted (N)."""
        arguments = (self.features, self.head.weight, self.head.bias, wanted, smoothing)
        total, likelihoods = _Chunks.apply(*arguments)  # type: ignore[no-untyped-call]
        return Judged(total, likelihoods)


class _Chunks(torch.autograd.Function):
    """Head, softmax and loss for some rows at a time, and their gradients at once.

    With p the softmax, w the piece wanted and ε the smoothing, the gradient of a row's loss
    by its logits is p − (1 − ε)·onehot(w) − ε/V.
    """

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, wanted: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        needed = any(ctx.needs_input_grad[:3])
        by_features, by_weight, by_bias = (
            torch.zeros_like(one, dtype=torch.float32) for one in (features, weight, bias)
        )
        likelihoods = torch.empty(len(features), device=features.device)  # N
        smooth = torch.zeros((), device=features.device)
        step = ROWS.get(features.device.type, MANY_ROWS)
        for start in range(0, len(features), step):
            rows = slice(start, start + step)
            some, aims = features[rows], wanted[rows, None]  # n D, n 1
            logs = functional.linear(some, weight, bias).float().log_softmax(-1)  # n V
            likelihoods[rows] = logs.gather(-1, aims)[:, 0]
            if smoothing:
                smooth += logs.mean(-1).sum()
            if needed:
                by_logits = logs.exp_()
                if smoothing:
                    by_logits -= smoothing / by_logits.shape[-1]
                by_logits.scatter_add_(-1, aims, torch.full_like(aims, smoothing - 1, dtype=torch.float32))
                by_features[rows] = by_logits @ weight
                by_weight += by_logits.T @ some
                by_bias += by_logits.sum(0)
        ctx.save_for_backward(by_features, by_weight, by_bias)
        ctx.types = features.dtype, weight.dtype, bias.dtype
        ctx.mark_non_differentiable(likelihoods)
        return -(1 - smoothing) * likelihoods.sum() - smoothing * smooth, likelihoods

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        by_total = gradients[0]
        found = (
            (by_total * saved).to(kind) for saved, kind in zip(ctx.saved_tensors, ctx.types, strict=True)
        )
        return (*found, None, None)
