"""How much of a reference an answer repeats, and how much else it says (Lin 2004), by rouge-score."""

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from regard.metrics.score import Metric, Tally, check, reference_count

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer


class _Rouge(Metric):
    """The mean F-score of the answers, in per cent, of words in small letters without their endings.

    The settings are those of papers on summaries: Porter's stemmer, letters and digits of English alone. Of
    several references the one with the highest F-score counts.
    """

    kind: ClassVar[str]
    higher_is_better = True

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        check(predictions, references)
        values = [
            max(self._scorer.score(answer, prediction)[self.kind].fmeasure for answer in answers)
            for prediction, answers in zip(predictions, references, strict=True)
        ]
        settings = f"nrefs:{reference_count(references)}|case:lc|stem:porter|mean:examples"
        signature = f"{settings}|version:rouge-score-{version('rouge-score')}"
        counts = np.stack([values, np.ones(len(values))], axis=1)
        return Tally(self.name, signature, self.higher_is_better, counts, _per_cent)

    @cached_property
    def _scorer(self) -> "RougeScorer":
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer

        # Without a tokenizer it logs that it takes this one, and sets up everybody's logging to do so.
        return RougeScorer([self.kind], tokenizer=DefaultTokenizer(use_stemmer=True))


class Rouge1(_Rouge):
    """Of single words."""

    name, kind = "rouge_1", "rouge1"


class Rouge2(_Rouge):
    """Of pairs of words."""

    name, kind = "rouge_2", "rouge2"


class RougeL(_Rouge):
    """Of the longest common subsequence of words."""

    name, kind = "rouge_l", "rougeL"


def _per_cent(sums: Sequence[float]) -> float:
    total, examples = sums
    return 100 * total / examples
