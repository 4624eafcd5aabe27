"""Greedy search: the likeliest piece at every step."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from regard.search.frame import Frame
from regard.search.hypothesis import Found
from regard.search.ranks import Rank
from regard.search.stepper import Stepper
from regard.search.walk import walk


def greedy(stepper: Stepper[Any], source: Any, frame: Frame, *, rank: Rank | None = None) -> list[Found]:
    """One hypothesis for each row of the source."""
    return walk(stepper, source, frame, _likeliest, rank=rank)


def _likeliest(following: Tensor, walkers: Sequence[int], length: int) -> Tensor:  # noqa: ARG001
    return following.argmax(-1)
