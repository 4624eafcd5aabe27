"""Predictions and references -> scores with signatures."""

from regard.metrics.buckets import Bucket, by_frequency, by_length
from regard.metrics.consensus import UTILITIES, expected
from regard.metrics.error_rates import CharacterErrorRate, WordErrorRate
from regard.metrics.exact_match import ExactMatch
from regard.metrics.overlap import Bleu, BleuLowercase, BleuTokenized, Chrf, ChrfWords, Ter
from regard.metrics.pronunciations import PhonemeErrorRate, PronunciationErrorRate
from regard.metrics.score import Interval, Metric, MetricMaker, Score, Tally
from regard.metrics.significance import BOUND, RESAMPLES, TRIALS, Comparison, compare, interval

METRICS: dict[str, MetricMaker] = {
    "exact_match": ExactMatch,
    "character_error_rate": CharacterErrorRate,
    "word_error_rate": WordErrorRate,
    "bleu": Bleu,
    "bleu_lowercase": BleuLowercase,
    "bleu_tokenized": BleuTokenized,
    "chrf": Chrf,
    "chrf_words": ChrfWords,
    "ter": Ter,
    "phoneme_error_rate": PhonemeErrorRate,
    "pronunciation_error_rate": PronunciationErrorRate,
}

__all__ = [
    "BOUND",
    "METRICS",
    "RESAMPLES",
    "TRIALS",
    "UTILITIES",
    "Bleu",
    "BleuLowercase",
    "BleuTokenized",
    "Bucket",
    "CharacterErrorRate",
    "Chrf",
    "ChrfWords",
    "Comparison",
    "ExactMatch",
    "Interval",
    "Metric",
    "MetricMaker",
    "PhonemeErrorRate",
    "PronunciationErrorRate",
    "Score",
    "Tally",
    "Ter",
    "WordErrorRate",
    "by_frequency",
    "by_length",
    "compare",
    "expected",
    "interval",
]
