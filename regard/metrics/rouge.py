"""How much of a reference an answer repeats, and how much else it says (Lin 2004), by rouge-score."""

import logging
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from regard.metrics.score import Metric, Tally, check, reference_count

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer


log = logging.getLogger("regard")


class _Rouge(Metric):
    """The mean F-score of the answers, in per cent, of words in small letters without their endings.

    The settings are those of papers on summaries: Porter's stemmer, letters and digits of English alone. Words of
    other languages are letters, marks and digits of any script in a row, with their endings. Of several references the
    one with the highest F-score counts.
    """

    kind: ClassVar[str]
    higher_is_better = True

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        check(predictions, references)
        every = [answer for answers in references for answer in answers]
        if not any(map(self._words.tokenize, every)) and any(map(str.isalpha, "".join(every))):
            log.warning(
                "%s finds no word in the right answers: they have no letters of English. Say their language with "
                'task.language ("und" is any), or take another metric, such as chrf.',
                self.name,
            )
        values = [
            max(self._scorer.score(answer, prediction)[self.kind].fmeasure for answer in answers)
            for prediction, answers in zip(predictions, references, strict=True)
        ]
        words = "stem:porter" if self._is_english else "tok:unicode"
        settings = f"nrefs:{reference_count(references)}|case:lc|{words}|mean:examples"
        signature = f"{settings}|version:rouge-score-{version('rouge-score')}"
        counts = np.stack([values, np.ones(len(values))], axis=1)
        return Tally(self.name, signature, self.higher_is_better, counts, _per_cent)

    @cached_property
    def _scorer(self) -> "RougeScorer":
        from rouge_score.rouge_scorer import RougeScorer

        return RougeScorer([self.kind], tokenizer=self._words)

    @property
    def _is_english(self) -> bool:
        return (self.language or "en").partition("-")[0] == "en"

    @cached_property
    def _words(self) -> "_Words":
        from rouge_score.tokenizers import DefaultTokenizer

        # Without a tokenizer rouge-score logs that it takes this one, and sets up everybody's logging to do so.
        words: _Words = DefaultTokenizer(use_stemmer=True) if self._is_english else _AnyScript()
        return words


class _Words(Protocol):
    def tokenize(self, text: str) -> list[str]: ...


class _AnyScript:
    def tokenize(self, text: str) -> list[str]:
        kept = "".join(
            character if unicodedata.category(character)[0] in "LMN" else " "
            for character in unicodedata.normalize("NFKC", text).lower()
        )
        return kept.split()


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
