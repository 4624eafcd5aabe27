"""Predictions and references -> scores with signatures."""

from regard.metrics.buckets import Bucket, by_bucket
from regard.metrics.character_error_rate import CharacterErrorRate
from regard.metrics.exact_match import ExactMatch
from regard.metrics.overlap import Bleu, Chrf
from regard.metrics.score import Metric, Score

METRICS: dict[str, type[Metric]] = {
    "exact_match": ExactMatch,
    "character_error_rate": CharacterErrorRate,
    "bleu": Bleu,
    "chrf": Chrf,
}

__all__ = [
    "METRICS",
    "Bleu",
    "Bucket",
    "CharacterErrorRate",
    "Chrf",
    "ExactMatch",
    "Metric",
    "Score",
    "by_bucket",
]
