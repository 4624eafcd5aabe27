"""How the experts of a layer share its work."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Load:
    """What the experts of one layer had to do, for an objective that keeps them busy alike."""

    given: Tensor  # E, how many positions each of them was given
    likely: Tensor  # E, the gate's probabilities for each of them, summed up
    positions: int
    balance: float  # weight of the penalty

    @staticmethod
    def total(loads: Sequence["Load"]) -> "Load":
        """Of one layer that worked several times."""
        return Load(
            torch.stack([one.given for one in loads]).sum(0),
            torch.stack([one.likely for one in loads]).sum(0),
            sum(one.positions for one in loads),
            loads[0].balance,
        )

    @property
    def penalty(self) -> Tensor:
        """For each piece (Fedus et al. 2022, equations 4 to 6).

        With f the share of positions that an expert is given and P the gate's mean probability for it,
        balance·E·Σ f·P.
        """
        number = max(self.positions, 1)
        return self.balance * len(self.given) * (self.given / number * self.likely / number).sum()
