"""What was found about the answers of a model."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from regard.beside import Beside
from regard.config import Config
from regard.core.figures import rounded, signed
from regard.core.prediction import Prediction, Request
from regard.metrics import Bucket, Comparison, Score
from regard.run import scores_document
from regard.search import Finder
from regard.text.rarity import Seen

Look = Callable[[Sequence[Request]], list[Prediction]]  # answers some requests again, with attention


@dataclass(frozen=True)
class Against:
    """Another run that answered the same sources."""

    name: str
    comparisons: Mapping[str, Comparison]  # by metric


@dataclass(frozen=True)
class Direction:
    """From one language to another, such as en-de."""

    name: str
    trained: bool  # or nobody ever showed it a pair of them
    count: int
    scores: Sequence[Score]

    def __str__(self) -> str:
        return self.name if self.trained else f"{self.name}, never trained"


@dataclass(frozen=True)
class Evaluation:
    path: Path  # of the run, or the first of several
    name: str
    config: Config = field(repr=False)
    search: Finder = field(repr=False)
    split: str
    scores: Mapping[str, Score]
    by_length: Sequence[Bucket]  # by pieces of the source
    by_frequency: Sequence[Bucket]  # by how often the rarest word of the source was trained on
    by_direction: Sequence[Direction]  # where there are several
    requests: Sequence[Request] = field(repr=False)  # what it was asked
    references: Sequence[Sequence[str]] = field(repr=False)  # all right answers of each source
    predictions: Sequence[Prediction] = field(repr=False)
    rarest: Sequence[Seen | None] = field(repr=False)  # none at all where the training pairs are gone
    look: Look = field(repr=False)
    against: Against | None = None
    alignment: Mapping[str, Score] = field(default_factory=dict)  # where there was gold to compare with
    beside: Sequence[Beside] = ()  # what the answers are like, and what baselines score
    saved: Path | None = None  # where the scores were written, if they were
    kept: Path | None = None  # where the predictions came from, if they had been made before

    @property
    def is_right_or_wrong(self) -> bool:
        return is_right_or_wrong(self.scores)

    def to_json(self) -> dict[str, object]:
        """`{"exact_match": {"value": 99.7, "signature": "...", "by_source_length": [...]}, ...}`"""
        document = scores_document(self.scores)
        for place, name in enumerate(self.scores):
            document[name]["by_source_length"] = _rows(self.by_length, place)
            document[name]["by_source_frequency"] = _rows(self.by_frequency, place)
            if self.by_direction:
                document[name]["by_direction"] = {
                    one.name: rounded(one.scores[place].value) for one in self.by_direction
                }
        others = {one.name: scores_document(one.scores) for one in self.beside}
        return document | scores_document(self.alignment) | ({"beside": others} if others else {})

    def document(self) -> dict[str, object]:
        """All that was found, for a program: the scores as `scores.json` has them, what was asked, and how."""
        known: dict[str, object] = {
            "name": self.name,
            "split": self.split,
            "sources": len(self.requests),
            "search": asdict(cast(Any, self.search)),
            "scores": self.to_json(),
        }
        if self.against:
            known["against"] = {
                "name": self.against.name,
                "scores": {name: _told(one) for name, one in self.against.comparisons.items()},
            }
        return known


def length_label(bucket: Bucket) -> str:
    if bucket.least == bucket.most:
        return f"{bucket.least} source pieces"
    return f"{bucket.least} to {bucket.most} source pieces"


def frequency_label(bucket: Bucket) -> str:
    if bucket.most == 0:
        return "rarest word unseen"
    if bucket.most is None:
        return f"rarest word seen {bucket.least:,} times or more"
    return f"rarest word seen {bucket.least} to {bucket.most} times"


def difference_label(comparison: Comparison) -> str:
    """With its sign, and with so many decimals that a small one is not told as nothing."""
    return signed(comparison.difference)


def _told(one: Comparison) -> dict[str, object]:
    return {
        "value": rounded(one.value),
        "other": rounded(one.other),
        "difference": rounded(one.difference),
        "p": round(one.p, 6),
        "verdict": one.verdict,
    }


def _rows(buckets: Sequence[Bucket], place: int) -> list[dict[str, object]]:
    return [
        {
            "from": bucket.least,
            "to": bucket.most,
            "count": bucket.count,
            "value": rounded(bucket.scores[place].value),
        }
        for bucket in buckets
    ]


def is_right_or_wrong(metrics: Collection[str]) -> bool:
    """Whether an answer is one of the two, as a date is; translations, summaries and points are better or worse."""
    return not {"exact_match", "pronunciation_error_rate"}.isdisjoint(metrics)
