"""What a model answers, and what it looked at while it did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.core.kinds import CONTEXT, CROSS, DECODER, ENCODER, plain_kind
from regard.core.pieces import BEGIN, SPECIAL_PIECES
from regard.core.words import Shares, Words

if TYPE_CHECKING:
    from torch import Tensor

Weights = NDArray[np.float32]  # layers, heads, target, source


def trimmed(looks: "Mapping[str, Tensor]", *, source: int, context: int = 0) -> dict[str, Weights]:
    """Looks of each kind without those from padding or at it: a source is so long, and what stands beside it."""
    sizes = {
        ENCODER: (source, source),
        CROSS: (None, source),
        DECODER: (None, None),
        CONTEXT: (None, context),
    }
    found = {}
    for kind, weights in looks.items():
        rows, columns = sizes[plain_kind(kind)]
        found[kind] = weights[..., :rows, :columns].float().cpu().numpy()
    return found


@dataclass(frozen=True)
class AttentionRecord:
    """Every weight of every step, layer and head of one prediction, in the order of the answer.

    `weights` maps a kind of attention to its array `[layers, heads, target, source]`. The kind
    `"cross"` is the decoder's look at the source: its rows go with `target_pieces`, its columns
    with `source_pieces`. `"encoder"` is the look of the source at itself. `"decoder"` is the look of the
    answer at itself: its rows go with `target_pieces`, its columns with the pieces that had been fed, the
    begin mark first. `"context"` is the look at what stands beside a source. A model without attention has no
    kinds, and neither has a record nobody asked for.
    """

    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]  # ends with the end mark when the answer was finished
    weights: Mapping[str, Weights] = field(repr=False)
    source_words: Words | None = field(default=None, repr=False)  # None: nobody said which they are
    target_words: Words | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        cross = self.weights.get("cross")
        if cross is not None:
            assert cross.shape[2:] == (len(self.target_pieces), len(self.source_pieces)), cross.shape
        for words, pieces in (
            (self.source_words, self.source_pieces),
            (self.target_words, self.target_pieces),
        ):
            assert words is None or len(words.of) == len(pieces), (words, pieces)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.weights)

    def has(self, kind: str) -> bool:
        """Whether there are looks of this kind, of one model or of an ensemble's members."""
        return any(plain_kind(one) == kind for one in self.weights)

    def cross(self, layer: int | None = None, head: int | None = None) -> NDArray[np.float32]:
        """The look at the source as one matrix `[target, source]`: of one layer and head, or their mean."""
        return self.matrix("cross", layer, head)

    def matrix(self, kind: str, layer: int | None = None, head: int | None = None) -> NDArray[np.float32]:
        """One kind of look as one matrix: of one layer and head, counted from 0, or the mean over them.

        For an ensemble the plain kind is the mean over its members.
        """
        members = [one for one in self.weights if plain_kind(one) == kind and one != kind]
        if members and kind not in self.weights:
            every = [self.matrix(one, layer, head) for one in members]
            together: NDArray[np.float32] = np.mean(every, axis=0, dtype=np.float32)
            return together
        if kind not in self.weights:
            raise ValueError(
                f"this prediction has no attention of the kind {kind!r}: its model has none, or it was not recorded"
            )
        weights = self.weights[kind]
        for name, wanted, count in zip(("layer", "head"), (layer, head), weights.shape[:2], strict=True):
            if wanted is not None and not 0 <= wanted < count:
                known = f"{name}s 0 to {count - 1}" if count > 1 else f"one {name}, {name} 0"
                raise UserError(f"There is no {name} {wanted}: this model has {known}.")
        weights = weights if layer is None else weights[[layer]]
        weights = weights if head is None else weights[:, [head]]
        mean: NDArray[np.float32] = weights.mean(axis=(0, 1))
        return mean

    def seen(self, kind: str) -> "AttentionRecord":
        """The looks of one kind alone, as if they were those at the source: who looks is the target.

        So whatever draws the one draws the others.
        """
        if kind == CROSS:
            return self
        if not self.has(kind):
            known = ", ".join(dict.fromkeys(map(plain_kind, self.weights)))
            raise UserError(
                f"This prediction has no looks of the kind {kind!r}. It has: {known}."
                if known
                else f"This prediction has no looks at all, and so none of the kind {kind!r}."
            )
        looks = {
            one.replace(kind, CROSS, 1): weights
            for one, weights in self.weights.items()
            if plain_kind(one) == kind
        }
        if kind == ENCODER:
            sides = (self.source_pieces, self.source_words)
            return AttentionRecord(sides[0], sides[0], looks, sides[1], sides[1])
        count = next(iter(looks.values())).shape[-1]
        if kind == CONTEXT:
            return AttentionRecord(tuple(map(str, range(1, count + 1))), self.target_pieces, looks)
        fed, words = (SPECIAL_PIECES[BEGIN], *self.target_pieces)[:count], self.target_words
        before = None if words is None else Words(words.texts, (None, *words.of)[:count])
        return AttentionRecord(fed, self.target_pieces, looks, before, words)

    def in_words(self) -> "AttentionRecord":
        """The same looks by words, as white space separates them, instead of pieces; marks stay as they are.

        What was looked at adds up: a word gets the weights of all its pieces. Who looked is averaged: a
        word looked where its pieces did, on average. So every row still sums to what it did.
        """
        if self.source_words is None or self.target_words is None:
            raise UserError(
                "There is no attention to read words off: the source is no text, this model has none, or nobody asked "
                "for it."
            )
        source, target = self.source_words, self.target_words
        sides = {
            "encoder": (source.means(), source.shares()),
            "cross": (target.means(), source.shares()),
            "decoder": (target.means(), _fed(target)),
        }
        weights = {
            kind: (rows @ looks @ columns).astype(np.float32)
            for kind, looks in self.weights.items()
            for rows, columns in [sides[plain_kind(kind)]]
        }  # each L H T S
        return AttentionRecord(
            source.names(self.source_pieces),
            target.names(self.target_pieces),
            weights,
            source.merged(),
            target.merged(),
        )


def _fed(target: Words) -> Shares:
    """The shares of what a decoder was fed: the begin mark, then all pieces but the last."""
    if not target.of:
        return np.zeros((0, 0), dtype=np.float32)
    shares = np.pad(target.shares(), ((1, 0), (1, 0)))
    shares[0, 0] = 1
    fed = shares[:-1]
    return fed[:, fed.any(axis=0)]  # no word of which nothing was fed


class View(Protocol):
    """How a kind of prediction is drawn; its task chooses it."""

    def figure(self, prediction: "Prediction") -> Any:
        """A matplotlib figure."""
        ...

    def html(self, prediction: "Prediction") -> str:
        """A fragment for a notebook."""
        ...

    def page(self, prediction: "Prediction") -> str:
        """A whole HTML file: everything inside, nothing fetched."""
        ...

    def letters(self, prediction: "Prediction") -> str:
        """For a terminal."""
        ...

    def showing(
        self, *, layer: int | None, head: int | None, hide_special: bool, kind: str = CROSS
    ) -> "View":
        """A view of one layer and head, counted from 0, or of their mean; with or without the marks; of one kind."""
        ...


@dataclass(frozen=True)
class Request:
    """A source with wishes about its answer."""

    text: str
    prefix: str = ""  # the answer begins with it
    require: Sequence[str] = ()  # words or phrases that are in the answer
    forbid: Sequence[str] = ()  # words or phrases that are not
    to: str | None = None  # the language of the answer, where a model knows several

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
    unread: int = field(default=0, compare=False)  # pieces of a source that was too long to be read whole
    piece_scores: tuple[float, ...] = field(
        default=(), repr=False, compare=False
    )  # log-probabilities that the score is the sum of, the end mark's included
    likeliest: tuple[tuple[tuple[str, float], ...], ...] = field(
        default=(), repr=False, compare=False
    )  # at each step, where asked for: the likeliest pieces and their probabilities
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
