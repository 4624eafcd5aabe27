"""What a model answers, and what it looked at while it did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]  # layers, heads, target, source


@dataclass(frozen=True)
class AttentionRecord:
    """Every weight of every step, layer and head of one prediction, in the order of the answer.

    `weights` maps a kind of attention to its array `[layers, heads, target, source]`. The kind
    `"cross"` is the decoder's look at the source: its rows go with `target_pieces`, its columns
    with `source_pieces`. `"encoder"` is the look of the source at itself. `"decoder"` is the look of the
    answer at itself: its rows go with `target_pieces`, its columns with the pieces that had been fed, the
    begin mark first. A model without attention has no kinds, and neither has a record nobody asked for.
    """

    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]  # ends with the end mark when the answer was finished
    weights: Mapping[str, Weights] = field(repr=False)

    def __post_init__(self) -> None:
        cross = self.weights.get("cross")
        if cross is not None:
            assert cross.shape[2:] == (len(self.target_pieces), len(self.source_pieces)), cross.shape

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.weights)

    def cross(self, layer: int | None = None, head: int | None = None) -> NDArray[np.float32]:
        """The look at the source as one matrix `[target, source]`: of one layer and head, or their mean."""
        if "cross" not in self.weights:
            raise ValueError("this prediction has no attention: its model has none, or it was not recorded")
        weights = self.weights["cross"]
        weights = weights if layer is None else weights[[layer]]
        weights = weights if head is None else weights[:, [head]]
        mean: NDArray[np.float32] = weights.mean(axis=(0, 1))
        return mean


class View(Protocol):
    """How a kind of prediction is drawn; its task chooses it."""

    def figure(self, prediction: "Prediction") -> Any:
        """A matplotlib figure."""
        ...

    def html(self, prediction: "Prediction") -> str:
        """A fragment for a notebook."""
        ...


@dataclass(frozen=True)
class Request:
    """A source with wishes about its answer."""

    text: str
    prefix: str = ""  # the answer begins with it
    require: Sequence[str] = ()  # words or phrases that are in the answer
    forbid: Sequence[str] = ()  # words or phrases that are not

    def __post_init__(self) -> None:
        for name in ("require", "forbid"):
            phrases = getattr(self, name)
            object.__setattr__(self, name, (phrases,) if isinstance(phrases, str) else tuple(phrases))


@dataclass(frozen=True)
class BeamNode:
    """One hypothesis that a beam search considered, by its last piece."""

    parent: int | None  # number of the node it goes on from; None at the first step
    piece: str
    score: float  # log-probability of all pieces up to here
    rank: float  # what it is worth as an answer of this length
    fate: str  # kept, pruned or finished
    step: int  # counted from 1


@dataclass(frozen=True)
class Prediction:
    """A finished answer."""

    source: str
    text: str
    pieces: tuple[str, ...]
    score: float  # log-probability of the answer, its end mark included
    attention: AttentionRecord = field(repr=False)
    finished: bool = True  # False: cut off at the longest length allowed
    rank: float = 0.0  # what the search ordered it by
    alternatives: tuple["Prediction", ...] = field(default=(), repr=False)  # the next best, where asked for
    beam: tuple[BeamNode, ...] | None = field(
        default=None, repr=False
    )  # all that was considered, if recorded
    problem: str | None = None  # why there is no answer
    view: View | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.text

    def plot(self) -> Any:
        """The attention as a matplotlib figure."""
        if self.view is None:
            raise ValueError("this prediction was made without a view")
        return self.view.figure(self)

    def _repr_html_(self) -> str | None:
        return self.view.html(self) if self.view is not None else None
