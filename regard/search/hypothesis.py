"""Hypotheses, and the trail that leads back from one to its first step."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from torch import Tensor

from regard.core.state import Looks
from regard.search.looks import along
from regard.search.tops import Tops
from regard.search.tree import Tree

Likeliest = tuple[tuple[int, float], ...]  # the likeliest next pieces and their log-probabilities, by falling


@dataclass(frozen=True)
class Hypothesis:
    """An answer of a search."""

    tokens: tuple[int, ...]  # ends with the end mark when finished
    score: float  # log-probability of all its tokens
    rank: float  # what the search ordered it by
    finished: bool  # False: cut off at the longest length allowed
    attention: Mapping[str, Tensor] = field(repr=False)  # kind -> layers, heads, target, source
    steps: tuple[float, ...] = field(default=(), repr=False)  # log-probability of each of its tokens
    likeliest: tuple[Likeliest, ...] = field(default=(), repr=False)  # of each step, where asked for


@dataclass(frozen=True)
class Found:
    """What a search found for one source."""

    hypotheses: tuple[Hypothesis, ...]  # best first; none, where no answer could keep the rules
    tree: Tree | None = None


@dataclass(frozen=True)
class Ending:
    """Where a hypothesis ended: enough to read it off the trail, if it turns out to be an answer."""

    step: int  # counted from 1, so it is the answer's length too
    row: int
    token: int  # the last one
    score: float
    rank: float
    finished: bool
    tokens: tuple[int, ...] = ()  # all of them, where another group may have come to the same


AnswerT = TypeVar("AnswerT", Ending, Hypothesis)


def best_first(answers: Iterable[AnswerT]) -> list[AnswerT]:
    """Finished ones before those that were cut off, then by rank."""
    return sorted(answers, key=lambda one: (not one.finished, -one.rank))


class Trail:
    """Who came from whom, step by step, and where each step looked.

    Nothing is moved while the search goes on: every row of a step remembers its parent row in the
    step before, and an answer's tokens and attention are read off by walking back. So attention
    follows its hypothesis through every re-ordering, and rows may leave the batch at any time.
    """

    def __init__(self) -> None:
        self._parents: list[Sequence[int]] = []  # per step: for each row, the row of the step before
        self._tokens: list[Sequence[int]] = []  # per step: the piece each row was fed
        self._scores: list[Sequence[float]] = []  # per step: log-probability of each row so far
        self._looks: list[Looks] = []  # per step: where each row looked to choose the next piece
        self._likeliest: list[Tops] = []  # per step, where asked for: the likeliest next pieces of each row

    def step(
        self,
        parents: Sequence[int],
        tokens: Sequence[int],
        scores: Sequence[float],
        looks: Looks,
        likeliest: Tops | None = None,
    ) -> None:
        self._parents.append(parents)
        self._tokens.append(tokens)
        self._scores.append(scores)
        self._looks.append(looks)
        if likeliest is not None:
            self._likeliest.append(likeliest)

    def tokens(self, step: int, row: int, token: int) -> list[int]:
        """What was said up to a token that goes on from a row."""
        return [token, *(self._tokens[n][at] for n, at in self._back(step, row) if n > 0)][::-1]

    def _back(self, step: int, row: int) -> Iterator[tuple[int, int]]:
        """The steps of a hypothesis and its row in each, the last first."""
        for number in range(step - 1, -1, -1):
            yield number, row
            row = self._parents[number][row]

    def trace(self, ending: Ending) -> Hypothesis:
        """The whole answer that ended there."""
        rows = [row for _, row in self._back(ending.step, ending.row)][::-1]
        path = list(zip(self._looks, rows, strict=False))  # others may have gone further
        totals = [scores[row] for scores, row in zip(self._scores, rows, strict=False)]
        return Hypothesis(
            tuple(self.tokens(ending.step, ending.row, ending.token)),
            ending.score,
            ending.rank,
            ending.finished,
            along(path),
            steps=tuple(after - before for before, after in pairwise([*totals, ending.score])),
            likeliest=tuple(_listed(tops, row) for tops, row in zip(self._likeliest, rows, strict=False)),
        )


def _listed(tops: Tops, row: int) -> Likeliest:
    return tuple(zip(tops.places[row].tolist(), tops.values[row].tolist(), strict=True))
