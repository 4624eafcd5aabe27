"""Experts: many feed-forward parts, of which each position is given to a few."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.core.load import Load
from regard.layers.feed_forward import FeedForward, Thought
from regard.layers.linear import Linear


class Routes(NamedTuple):
    """Which experts each of N positions is given to."""

    probabilities: Tensor  # N E, of the gate over all experts
    chosen: Tensor  # N k, numbers of experts, the likeliest first
    shares: Tensor  # N k, of each expert in the answer


class Experts(nn.Module):
    """A mixture of experts: Σ gᵢ(x)·fᵢ(x) over the `used` likeliest (Shazeer et al. 2017, section 2).

    The gate is a softmax over all experts, brought back to a sum of one over those that are used. One alone
    is weighed by its probability itself (Fedus et al. 2022, section 2.1), for else the gate would not learn.
    No expert is ever full and no position dropped: what becomes of one does not depend on the others.

    In training it tells their load, and an objective keeps them busy alike.
    """

    def __init__(
        self,
        make: Callable[[], FeedForward],
        width: int,
        *,
        experts: int,
        used: int = 2,
        balance: float = 0.01,
    ):
        super().__init__()
        assert 1 <= used <= experts, (used, experts)
        self.experts = nn.ModuleList(make() for _ in range(experts))
        self.gate = Linear(width, experts, bias=False)
        self.used = used
        self.balance = balance

    def forward(self, vectors: Tensor, mask: Tensor | None = None) -> Thought:
        """... D with its mask (...); where the mask is False, nothing is thought and nothing counted."""
        if mask is None:
            mask = torch.ones(vectors.shape[:-1], dtype=torch.bool, device=vectors.device)
        positions = vectors[mask]  # N D
        routes = self.route(positions)
        thoughts = self._think(positions, routes)  # N D
        load = self._load(routes) if self.training and self.balance else None
        return Thought(torch.zeros_like(vectors, dtype=thoughts.dtype).index_put((mask,), thoughts), load)

    def route(self, positions: Tensor) -> Routes:
        # Under autocast too the gate is exact: rounding must not choose (Fedus et al. 2022, section 2.4).
        with torch.autocast(positions.device.type, enabled=False):
            probabilities = self.gate(positions.to(self.gate.weight.dtype)).softmax(-1)  # N E
        likeliest, chosen = probabilities.topk(self.used, dim=-1)  # N k
        shares = likeliest if self.used == 1 else likeliest / likeliest.sum(-1, keepdim=True)
        return Routes(probabilities, chosen, shares)

    def _think(self, positions: Tensor, routes: Routes) -> Tensor:
        """Each expert is given its positions at once: they are sorted by expert, and back."""
        order = routes.chosen.flatten().argsort(stable=True)  # N·k
        sizes = routes.chosen.flatten().bincount(minlength=len(self.experts)).tolist()
        given = torch.split(positions[order // self.used], sizes)  # E times n D
        answers = torch.cat([expert(some).vectors for expert, some in zip(self.experts, given, strict=True)])
        answers = answers[order.argsort()].view(len(positions), self.used, positions.shape[-1])  # N k D
        return (answers * routes.shares[..., None].to(answers.dtype)).sum(1)

    def _load(self, routes: Routes) -> Load:
        given = routes.chosen.flatten().bincount(minlength=len(self.experts))  # E
        return Load(given, routes.probabilities.sum(0), len(routes.chosen), self.balance)
