"""How many characters or words would have to be mended."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from regard.metrics.score import Metric, Tally, check, reference_count

if TYPE_CHECKING:
    from jiwer import AlignmentChunk

Units = list[list[str]]  # texts as lists of characters or words


class CharacterErrorRate(Metric):
    """Edits per hundred characters of the references, over the whole corpus, by jiwer.

    Of several references the nearest counts: the one with the fewest edits, the longest of those.
    White space counts as characters do; jiwer alone would strip it. When all references are empty
    there is nothing to divide by and, as in jiwer, every edit counts as one whole (100).
    """

    name = "character_error_rate"
    higher_is_better = False

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        from jiwer import ReduceToListOfListOfChars, process_characters

        check(predictions, references)
        answers, beside = _flat(predictions, references)
        cut = ReduceToListOfListOfChars()
        aligned = process_characters(answers, beside, reference_transform=cut, hypothesis_transform=cut)
        return _tally(self, aligned.references, aligned.alignments, references, "case:mixed|space:yes")


class WordErrorRate(Metric):
    """Edits per hundred words of the references, over the whole corpus, by jiwer.

    Words are what white space separates, so a full stop belongs to its word. Several references and empty ones
    count as in the character error rate.
    """

    name = "word_error_rate"
    higher_is_better = False

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        from jiwer import ReduceToListOfListOfWords, process_words

        check(predictions, references)
        answers, beside = (
            [" ".join(text.split()) for text in side] for side in _flat(predictions, references)
        )
        cut = ReduceToListOfListOfWords()
        aligned = process_words(answers, beside, reference_transform=cut, hypothesis_transform=cut)
        return _tally(self, aligned.references, aligned.alignments, references, "case:mixed|tok:space")


def _flat(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """All references, and beside each of them its prediction."""
    answers = [answer for several in references for answer in several]
    beside = [one for one, several in zip(predictions, references, strict=True) for _ in several]
    return answers, beside


def _tally(
    metric: Metric,
    units: Units,
    alignments: Sequence[Sequence["AlignmentChunk"]],
    references: Sequence[Sequence[str]],
    rules: str,
) -> Tally:
    """The edits and the length of the nearest reference of each example."""
    every = iter([(_edits(one), -len(answer)) for one, answer in zip(alignments, units, strict=True)])
    nearest = [min(next(every) for _ in several) for several in references]
    counts = np.array([(edits, -shortness) for edits, shortness in nearest], dtype=np.float64)
    signature = f"nrefs:{reference_count(references)}|{rules}|version:jiwer-{version('jiwer')}"
    return Tally(metric.name, signature, metric.higher_is_better, counts, _rate)


def _rate(sums: Sequence[float]) -> float:
    edits, length = sums
    return 100 * edits / max(length, 1)


def _edits(alignment: Sequence["AlignmentChunk"]) -> int:
    return sum(
        max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx)
        for chunk in alignment
        if chunk.type != "equal"
    )
