"""What a metric gives, what it is, and what it may be given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from regard.core.errors import UserError


@dataclass(frozen=True)
class Score:
    """A number and everything needed to compare it with somebody else's.

    The signature follows sacrebleu: `key:value` settings joined by `|`, the version last.
    """

    name: str
    value: float
    signature: str
    higher_is_better: bool

    def __str__(self) -> str:
        return f"{self.name} {self.value:.2f} ({self.signature})"


class Metric(Protocol):
    """Predictions and, for each of them, all its right answers -> a score."""

    @property
    def name(self) -> str: ...

    @property
    def higher_is_better(self) -> bool: ...

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score: ...


class MetricMaker(Protocol):
    """A metric's class. All take the language of the answers; most have no use for it."""

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
