"""A trained model against the right answers."""

from regard.evaluation.alignment import AlignmentTest
from regard.evaluation.evaluated import (
    Against,
    Direction,
    Evaluation,
    difference_label,
    frequency_label,
    is_right_or_wrong,
    length_label,
)
from regard.evaluation.other_pairs import Given
from regard.evaluation.scoring import evaluate, source_lengths, tallies

__all__ = [
    "Against",
    "AlignmentTest",
    "Direction",
    "Evaluation",
    "Given",
    "difference_label",
    "evaluate",
    "frequency_label",
    "is_right_or_wrong",
    "length_label",
    "source_lengths",
    "tallies",
]
