"""Sampling: each piece is drawn by chance."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.search.frame import Frame
from regard.search.hypothesis import Found
from regard.search.ranks import Rank
from regard.search.stepper import Stepper
from regard.search.walk import walk


@dataclass(frozen=True)
class Draw:
    """From what is drawn. What a filter leaves out is never drawn; the rest grows in proportion."""

    temperature: float = 1.0  # below one: the likely becomes likelier
    top_k: int = 0  # the likeliest k pieces alone (Fan et al. 2018); 0 is all
    top_p: float = 1.0  # the fewest pieces that together have this probability (Holtzman et al. 2020)
    min_p: float = 0.0  # pieces with this share of the likeliest one's probability (Nguyen et al. 2024)

    def probabilities(self, following: Tensor) -> Tensor:
        """Log-probabilities (rows V) to the probabilities that are drawn from, in float64."""
        probabilities = torch.softmax(following.double() / self.temperature, dim=-1)  # rows V
        if self.top_k:
            least = probabilities.topk(min(self.top_k, probabilities.shape[-1]), dim=-1).values[:, -1:]
            probabilities = probabilities.masked_fill(probabilities < least, 0)
        if self.min_p:
            likeliest = probabilities.amax(-1, keepdim=True)
            probabilities = probabilities.masked_fill(probabilities < self.min_p * likeliest, 0)
        if self.top_p < 1:
            falling, order = probabilities.sort(dim=-1, descending=True)
            total = falling.sum(-1, keepdim=True)
            before = falling.cumsum(-1) - falling  # the probability of all that are likelier
            beyond = torch.zeros_like(falling, dtype=torch.bool).scatter(
                -1, order, before >= self.top_p * total
            )
            probabilities = probabilities.masked_fill(beyond, 0)
        return probabilities


def sample(
    stepper: Stepper[Any],
    source: Any,
    frame: Frame,
    *,
    draw: Draw,
    names: Sequence[bytes],
    samples: int = 1,
    seed: int = 1,
    rank: Rank | None = None,
) -> list[Found]:
    """`samples` hypotheses for each row of the source, the best ranked first.

    What is drawn for a source depends on the seed and on the source's name alone, not on its neighbours.
    A score is the probability under the model, whatever was drawn from.
    """
    chances = torch.tensor(
        np.stack(
            [chances_of(seed, name, number, max(frame.bounds)) for name in names for number in range(samples)]
        ),
        device=frame.limits.device,
    )  # walkers T

    def choose(following: Tensor, walkers: Sequence[int], length: int) -> Tensor:
        heights = draw.probabilities(following).nan_to_num(0).cumsum(-1)  # rows V
        marks = chances[list(walkers), length - 1, None] * heights[:, -1:]  # rows 1
        return torch.searchsorted(heights, marks, right=True)[:, 0].clamp(max=following.shape[1] - 1)

    return walk(stepper, source, frame, choose, walkers=samples, rank=rank)


def chances_of(seed: int, name: bytes, number: int, steps: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A number between 0 and 1 for each step. More steps change none of the first."""
    key = hashlib.blake2b(
        name, digest_size=16, salt=seed.to_bytes(8, "little"), person=number.to_bytes(8, "little")
    )
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key.digest(), "little"))).random(steps)
