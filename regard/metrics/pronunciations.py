"""How far spoken words are from the right ones: phonemes with white space between."""

from collections.abc import Sequence

import numpy as np

from regard import __version__
from regard.metrics.error_rates import WordErrorRate
from regard.metrics.score import Metric, Tally, check, reference_count


class PhonemeErrorRate(WordErrorRate):
    """Edits per hundred phonemes of the references: a phoneme is what a word is elsewhere."""

    name = "phoneme_error_rate"


class PronunciationErrorRate(Metric):
    """Per cent of the predictions that equal none of their right pronunciations: papers call it word error rate."""

    name = "pronunciation_error_rate"
    higher_is_better = False

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        check(predictions, references)
        wrong = [
            prediction.split() not in [answer.split() for answer in answers]
            for prediction, answers in zip(predictions, references, strict=True)
        ]
        counts = np.array([(one, 1) for one in wrong], dtype=np.float64)
        signature = f"nrefs:{reference_count(references)}|version:regard-{__version__}"
        return Tally(
            self.name, signature, self.higher_is_better, counts, lambda sums: 100 * sums[0] / sums[1]
        )
