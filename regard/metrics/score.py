"""What a metric gives, what it is, and what it may be given."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, final

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.core.figures import figure

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Where a value lies in 95 of 100 sets of examples like this one."""

    low: float
    high: float

    @property
    def half(self) -> float:
        """What stands behind the ±. The interval need not be symmetric; then this is half its width."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Score:
    """A number and everything needed to compare it with somebody else's.

    The signature follows sacrebleu: `key:value` settings joined by `|`, the version last.
    """

    name: str
    value: float
    signature: str
    higher_is_better: bool
    interval: Interval | None = None  # None: nobody asked for it

    def __str__(self) -> str:
        return f"{self.name} {self.shown} ({self.signature})"

    @property
    def shown(self) -> str:
        near = f" ±{figure(self.interval.half, like=self.value)}" if self.interval else ""
        return figure(self.value) + near


@dataclass(frozen=True)
class Tally:
    """What a metric counted in each example. Sums of the counts give its value over any of the examples."""

    name: str
    signature: str
    higher_is_better: bool
    counts: Counts = field(repr=False)  # examples, what is counted
    value_of: Callable[[Sequence[float]], float] = field(repr=False)  # sums of counts -> value

    def score(self) -> Score:
        return Score(self.name, self.value(self.counts.sum(axis=0)), self.signature, self.higher_is_better)

    def value(self, sums: Counts) -> float:
        return float(self.value_of(sums.tolist()))

    def over(self, rows: Sequence[int]) -> "Tally":
        """Of some of the examples."""
        return Tally(
            self.name, self.signature, self.higher_is_better, self.counts[np.asarray(rows)], self.value_of
        )

    def each(self) -> list[float]:
        """The value of every example alone."""
        return [self.value(row) for row in self.counts]


class Metric(ABC):
    """Predictions and, for each of them, all its right answers -> a score."""

    name: ClassVar[str]
    higher_is_better: ClassVar[bool]
    alone: ClassVar[bool] = True  # False: what an answer is worth depends on the right answers of others too
    answers: ClassVar[str] = "texts"  # what it reads: texts of any kind, or points

    def __init__(self, *, language: str | None = None):
        self.language = language  # of the answers; most have no use for it

    @final
    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        return self.tally(predictions, references).score()

    @abstractmethod
    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally: ...


class MetricMaker(Protocol):
    """A metric's class."""

    answers: str  # as in its metrics

    def __call__(self, *, language: str | None = None) -> Metric: ...


def check(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Every prediction has at least one right answer, and there is something to score."""
    if len(predictions) != len(references):
        raise ValueError(f"{len(predictions)} predictions but references for {len(references)}")
    for number, answers in enumerate(references):
        if isinstance(answers, str):
            raise ValueError(f"references[{number}] is one string; give a sequence of right answers")
        if len(answers) == 0:
            raise ValueError(f"references[{number}] is empty; every prediction needs a right answer")
    if len(predictions) == 0:
        raise UserError("There is nothing to score: the data has no examples. Is the file empty?")


def reference_count(references: Sequence[Sequence[str]]) -> str:
    """For a signature, in sacrebleu's words: a number, or `var` when it differs between examples."""
    counts = {len(answers) for answers in references}
    return str(counts.pop()) if len(counts) == 1 else "var"
