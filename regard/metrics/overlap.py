"""How many word or character sequences an answer shares with its references, by sacrebleu."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from regard.metrics.score import Score, check


class Bleu:
    """Papineni et al. 2002, with the settings that sacrebleu made the standard.

    It needs texts of four words: a corpus without any has no four-word sequence to share and scores 0.
    """

    name = "bleu"
    higher_is_better = True

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        from sacrebleu import BLEU

        check(predictions, references)
        metric = BLEU()
        value = metric.corpus_score(predictions, reference_streams(references)).score
        return Score(self.name, value, str(metric.get_signature()), self.higher_is_better)


class Chrf:
    """Popović 2015: the F-score of character sequences up to six long, recall counting twice."""

    name = "chrf"
    higher_is_better = True

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        from sacrebleu import CHRF

        check(predictions, references)
        metric = CHRF()
        value = metric.corpus_score(predictions, reference_streams(references)).score
        return Score(self.name, value, str(metric.get_signature()), self.higher_is_better)


def reference_streams(references: Sequence[Sequence[str]]) -> list[list[Any]]:
    """Answers per example -> all first answers, all second answers, ...; None where an example has no more.

    That None is sacrebleu's own convention, though its annotations speak of strings only: hence Any.
    """
    return [list(stream) for stream in zip_longest(*references)]
