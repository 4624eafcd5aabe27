"""Objectives: what training makes small."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.core.batch import Batch
from regard.core.kinds import CROSS, NOTHING
from regard.core.state import Choice
from regard.models import Seq2Seq
from regard.training.feeding import Feeding, Teacher
from regard.training.ranks import ALONE, Ranks
from regard.training.rewards import ExpectedReward

PIECES = 4096  # that are told apart; in a larger vocabulary some share a place
FEW = 10  # as often a piece must have been seen to count as much as the mean of all
LONG_MEMORY = 0.99  # of pieces, most of which are rare


@dataclass(frozen=True)
class Loss:
    """Sums, not means: several batches of one step are weighed by their tokens, not by their number."""

    total: Tensor  # to go backward from
    likelihood: Tensor  # negative log-likelihood without smoothing, for people
    tokens: int


class CrossEntropy(nn.Module):
    """Negative log-likelihood of the target's pieces, optionally smoothed (Szegedy et al. 2016)."""

    def __init__(
        self,
        *,
        label_smoothing: float = 0.0,
        feeding: Feeding | None = None,
        reinforce: "Reinforce | None" = None,
        penalties: Sequence["LookPenalty"] = (),
        reward: ExpectedReward | None = None,
        ranks: Ranks = ALONE,
    ):
        super().__init__()
        self.label_smoothing = label_smoothing
        self.feeding = feeding or Teacher()
        self.reinforce = reinforce
        self.penalties = nn.ModuleList(penalties)  # on where it looked
        self.reward = reward
        self.ranks = ranks

    def forward(self, model: Seq2Seq, batch: Batch, step: int = 0) -> Loss:
        fed = self.feeding(model, batch, step, frozenset({CROSS}) if self.penalties else NOTHING)
        wanted = batch.target.standing  # N, or N D
        judged = fed.said.judge(wanted, self.label_smoothing)
        total = judged.total
        if self.reinforce is not None and fed.choice is not None:
            total = total + self.reinforce(judged.likelihoods, fed.choice, batch.target.mask, wanted)
        for penalty in self.penalties:
            total = total + penalty(fed.attention[CROSS], batch.target.mask)
        if self.reward is not None:
            total = total + self.reward(model, batch)
        for load in fed.loads:
            total = total + self.ranks.whole(load).penalty * self.ranks.sum(len(wanted))
        return Loss(total, -judged.likelihoods.sum(), len(wanted))


class LookPenalty(nn.Module, ABC):
    """Something to add to a loss for where a decoder looked."""

    @abstractmethod
    def forward(self, looks: Tensor, mask: Tensor) -> Tensor:
        """B L H T S and where the target stands (B T)."""


class DoublyStochastic(LookPenalty):
    """A wish to look at every place once in all (Xu et al. 2015, section 4.2.1).

        λ·Σ_i (1 − Σ_t a_ti)²

    Of the last layer whose look falls on the source, and of the mean of its heads. What is beyond the end of a source
    has no weight, and its part of the sum does not change.
    """

    def __init__(self, *, weight: float = 1.0, layer: int = -1):
        super().__init__()
        self.weight = weight
        self.layer = layer

    def forward(self, looks: Tensor, mask: Tensor) -> Tensor:
        seen = (looks[:, self.layer].mean(1) * mask[..., None]).sum(1)  # B S
        return self.weight * (1 - seen).square().sum()


class Coverage(LookPenalty):
    """A penalty on looking where one has looked before (See et al. 2017, section 2.3).

        λ·Σ_t Σ_i min(a_ti, c_ti),  c_t = Σ a before t

    Of the last layer whose look falls on the source, and of one head or of their mean. It needs nothing but
    the weights, so a Transformer has it too.
    """

    def __init__(self, *, weight: float = 1.0, layer: int = -1, head: int | None = None):
        super().__init__()
        self.weight = weight
        self.layer = layer
        self.head = head

    def forward(self, looks: Tensor, mask: Tensor) -> Tensor:
        of_layer = looks[:, self.layer]  # B H T S
        look = of_layer.mean(1) if self.head is None else of_layer[:, self.head]  # B T S
        before = look.cumsum(1) - look
        return self.weight * (torch.minimum(look, before).sum(-1) * mask).sum()


class Reinforce(nn.Module):
    """The gradient that a draw does not have (Williams 1992), for the hard selection of Xu et al. 2015.

        λ·Σ (R − b)·∇log p(position drawn) + bonus·∇entropy

    The return R of a draw is the log-likelihood of the pieces from its step on: earlier ones it could not
    change. Later ones count less and less by the `discount`; with 0, its own piece alone. The baseline b is what
    these pieces had of late, each by itself: most of a log-likelihood is the piece's and not the look's. Pieces
    that were hardly seen, and points, have the moving average of all. What is known of them is kept in buffers, so
    that it is saved and a resumed training goes on with it.
    """

    baseline: Tensor
    sums: Tensor
    counts: Tensor

    def __init__(
        self,
        *,
        weight: float = 1.0,
        entropy_bonus: float = 0.01,
        discount: float = 1.0,
        memory: float = 0.9,
        ranks: Ranks = ALONE,
    ):
        super().__init__()
        self.weight = weight
        self.entropy_bonus = entropy_bonus
        self.discount = discount
        self.memory = memory
        self.ranks = ranks
        self.register_buffer("baseline", torch.zeros(()))
        self.register_buffer("sums", torch.zeros(PIECES))
        self.register_buffer("counts", torch.zeros(PIECES))

    def forward(
        self, likelihoods: Tensor, choice: Choice, mask: Tensor, pieces: Tensor | None = None
    ) -> Tensor:
        """`likelihoods` (N) of the `pieces` (N) where `mask` (B T) is True; gives something to add to a loss."""
        places = None if pieces is None or pieces.is_floating_point() else pieces % PIECES  # N
        better = (likelihoods - self._expected(places)).float()  # N
        rewards = torch.zeros(mask.shape, device=mask.device).masked_scatter(mask, better)  # B T
        advantage = self._returns(rewards) * mask  # B T
        drawn = (choice.log_probability.sum(1) * advantage).sum()
        open_still = (choice.entropy.sum(1) * mask).sum()
        if self.training:
            self._learn(likelihoods, places)
        return -self.weight * drawn - self.entropy_bonus * open_still

    def _expected(self, places: Tensor | None) -> Tensor:
        if places is None:
            return self.baseline
        return (self.sums[places] + FEW * self.baseline) / (self.counts[places] + FEW)  # N

    def _returns(self, rewards: Tensor) -> Tensor:
        if self.discount == 1:
            return rewards.flip(1).cumsum(1).flip(1)  # B T
        found = [torch.zeros_like(rewards[:, 0])]
        for reward in rewards.flip(1).unbind(1):
            found.append(reward + self.discount * found[-1])
        return torch.stack(found[:0:-1], dim=1)  # B T

    def _learn(self, likelihoods: Tensor, places: Tensor | None) -> None:
        likelihoods = likelihoods.detach().to(self.baseline.dtype)
        self.baseline.lerp_(self.ranks.mean(likelihoods).to(self.baseline.dtype), 1 - self.memory)
        if places is not None:
            for kept, found in ((self.sums, likelihoods), (self.counts, torch.ones_like(likelihoods))):
                now = torch.zeros_like(kept).index_add_(0, places, found)
                kept.mul_(LONG_MEMORY).add_(self.ranks.total(now))
