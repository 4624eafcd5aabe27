"""The same sentences, answered by every model, with what each looked at."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from regard.core.prediction import Prediction, Request
from regard.predictor import Predictor

BANDS = 3  # of lengths, each with a sentence
LONGEST = 60  # pieces of a source that is shown: wider pictures are to be moved through


@dataclass(frozen=True)
class Sentence:
    source: str
    references: Sequence[str]
    answers: Sequence[Prediction] = field(repr=False)  # of every model


def choose(lengths: Sequence[int], answers: Sequence[Sequence[Prediction]]) -> list[int]:
    """From the short, the middling and the long sources, the one on which models disagree most.

    Very long ones are shown where there are no others.
    """
    full = [number for number, length in enumerate(lengths) if length > 1]
    shown = [number for number in full if lengths[number] <= LONGEST] or full
    order = sorted(shown, key=lambda number: (lengths[number], number))
    cuts = [len(order) * part // BANDS for part in range(BANDS + 1)]
    bands = [order[start:end] for start, end in pairwise(cuts)]

    def disagreement(number: int) -> int:
        return len({every[number].text for every in answers})

    return [max(band, key=disagreement) for band in bands if band]


def look(predictor: Predictor, requests: Sequence[Request]) -> list[Prediction]:
    return predictor.predict(requests)
