"""Predictions and references -> scores with signatures."""

from regard.metrics.buckets import Bucket, by_frequency, by_length
from regard.metrics.captions import CaptionBleu1, CaptionBleu2, CaptionBleu3, CaptionBleu4, Cider
from regard.metrics.consensus import UTILITIES, expected
from regard.metrics.displacement import (
    AverageDisplacement,
    FinalDisplacement,
    LeastAverageDisplacement,
    LeastFinalDisplacement,
    MeanAbsoluteError,
    MeanSquaredError,
)
from regard.metrics.error_rates import CharacterErrorRate, WordErrorRate
from regard.metrics.exact_match import ExactMatch
from regard.metrics.overlap import Bleu, BleuLowercase, BleuTokenized, Chrf, ChrfWords, Ter
from regard.metrics.perplexity import perplexity
from regard.metrics.pronunciations import PhonemeErrorRate, PronunciationErrorRate
from regard.metrics.rouge import Rouge1, Rouge2, RougeL
from regard.metrics.score import Interval, Metric, MetricMaker, Score, Tally
from regard.metrics.significance import BOUND, RESAMPLES, TRIALS, Comparison, compare, interval
from regard.metrics.traits import TRAITS, Trait

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
    "rouge_1": Rouge1,
    "rouge_2": Rouge2,
    "rouge_l": RougeL,
    "caption_bleu_1": CaptionBleu1,
    "caption_bleu_2": CaptionBleu2,
    "caption_bleu_3": CaptionBleu3,
    "caption_bleu_4": CaptionBleu4,
    "cider": Cider,
    "ade": AverageDisplacement,
    "fde": FinalDisplacement,
    "min_ade": LeastAverageDisplacement,
    "min_fde": LeastFinalDisplacement,
    "mse": MeanSquaredError,
    "mae": MeanAbsoluteError,
}
PERPLEXITY = "perplexity"  # asks the model, not its answers

__all__ = [
    "BOUND",
    "METRICS",
    "PERPLEXITY",
    "RESAMPLES",
    "TRAITS",
    "TRIALS",
    "UTILITIES",
    "AverageDisplacement",
    "Bleu",
    "BleuLowercase",
    "BleuTokenized",
    "Bucket",
    "CaptionBleu1",
    "CaptionBleu2",
    "CaptionBleu3",
    "CaptionBleu4",
    "CharacterErrorRate",
    "Chrf",
    "ChrfWords",
    "Cider",
    "Comparison",
    "ExactMatch",
    "FinalDisplacement",
    "Interval",
    "LeastAverageDisplacement",
    "LeastFinalDisplacement",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "Metric",
    "MetricMaker",
    "PhonemeErrorRate",
    "PronunciationErrorRate",
    "Rouge1",
    "Rouge2",
    "RougeL",
    "Score",
    "Tally",
    "Ter",
    "Trait",
    "WordErrorRate",
    "by_frequency",
    "by_length",
    "compare",
    "expected",
    "interval",
    "perplexity",
]
