"""How many answers are right to the last character."""

from collections.abc import Sequence

import numpy as np

from regard import __version__
from regard.metrics.score import Metric, Tally, check, reference_count


class ExactMatch(Metric):
    """Per cent of the predictions that equal one of their references, case and white space included."""

    name = "exact_match"
    higher_is_better = True

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        check(predictions, references)
        right = [
            prediction in tuple(answers) for prediction, answers in zip(predictions, references, strict=True)
        ]
        signature = f"nrefs:{reference_count(references)}|case:mixed|space:yes|version:regard-{__version__}"
        counts = np.stack([right, np.ones(len(right))], axis=1)
        return Tally(self.name, signature, self.higher_is_better, counts, _per_cent)


def _per_cent(sums: Sequence[float]) -> float:
    right, examples = sums
    return 100 * right / examples
