"""Predictions and references -> scores with signatures."""

from regard.metrics.buckets import Bucket, by_bucket
from regard.metrics.character_error_rate import CharacterErrorRate
from regard.metrics.consensus import UTILITIES, expected
from regard.metrics.exact_match import ExactMatch
from regard.metrics.overlap import Bleu, BleuLowercase, BleuTokenized, Chrf
from regard.metrics.pronunciations import PhonemeErrorRate, PronunciationErrorRate
from regard.metrics.score import Metric, MetricMaker, Score

METRICS: dict[str, MetricMaker] = {
    "exact_match": ExactMatch,
    "character_error_rate": CharacterErrorRate,
    "bleu": Bleu,
    "bleu_lowercase": BleuLowercase,
    "bleu_tokenized": BleuTokenized,
    "chrf": Chrf,
    "phoneme_error_rate": PhonemeErrorRate,
    "pronunciation_error_rate": PronunciationErrorRate,
}

__all__ = [
    "METRICS",
    "UTILITIES",
    "Bleu",
    "BleuLowercase",
    "BleuTokenized",
    "Bucket",
    "CharacterErrorRate",
    "Chrf",
    "ExactMatch",
    "Metric",
    "MetricMaker",
    "PhonemeErrorRate",
    "PronunciationErrorRate",
    "Score",
    "by_bucket",
    "expected",
]
