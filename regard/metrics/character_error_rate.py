"""How many characters would have to be mended."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from regard.metrics.score import Score, check, reference_count

if TYPE_CHECKING:
    from jiwer import AlignmentChunk


class CharacterErrorRate:
    """Edits per hundred characters of the references, over the whole corpus, by jiwer.

    Of several references the nearest counts: the one with the fewest edits, the longest of those.
    White space counts as characters do; jiwer alone would strip it. When all references are empty
    there is nothing to divide by and, as in jiwer, every edit counts as one whole (100).
    """

    name = "character_error_rate"
    higher_is_better = False

    def __init__(self, *, language: str | None = None):
        pass

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        from jiwer import ReduceToListOfListOfChars, process_characters

        check(predictions, references)
        characters = ReduceToListOfListOfChars()
        aligned = process_characters(
            [answer for answers in references for answer in answers],
            [
                prediction
                for prediction, answers in zip(predictions, references, strict=True)
                for _ in answers
            ],
            reference_transform=characters,
            hypothesis_transform=characters,
        )
        distances = iter([edits(alignment) for alignment in aligned.alignments])
        wrong = length = 0
        for answers in references:
            distance, shortness = min((next(distances), -len(answer)) for answer in answers)
            wrong += distance
            length -= shortness
        signature = (
            f"nrefs:{reference_count(references)}|case:mixed|space:yes|version:jiwer-{version('jiwer')}"
        )
        return Score(self.name, 100 * wrong / max(length, 1), signature, self.higher_is_better)


def edits(alignment: Sequence["AlignmentChunk"]) -> int:
    return sum(
        max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx)
        for chunk in alignment
        if chunk.type != "equal"
    )
