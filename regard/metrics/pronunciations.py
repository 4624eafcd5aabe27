"""How far spoken words are from the right ones: phonemes with white space between."""

from collections.abc import Sequence
from importlib.metadata import version

from regard import __version__
from regard.metrics.character_error_rate import edits
from regard.metrics.score import Score, check, reference_count


class PhonemeErrorRate:
    """Edits per hundred phonemes of the references, over the whole corpus, by jiwer.

    Of several right pronunciations the nearest counts: the one with the fewest edits, the longest of those. When
    all references are empty there is nothing to divide by and every edit counts as one whole (100).
    """

    name = "phoneme_error_rate"
    higher_is_better = False

    def __init__(self, *, language: str | None = None):
        pass

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        from jiwer import ReduceToListOfListOfWords, process_words

        check(predictions, references)
        phonemes = ReduceToListOfListOfWords()
        aligned = process_words(
            [_spaced(answer) for answers in references for answer in answers],
            [
                _spaced(prediction)
                for prediction, answers in zip(predictions, references, strict=True)
                for _ in answers
            ],
            reference_transform=phonemes,
            hypothesis_transform=phonemes,
        )
        distances = iter([edits(alignment) for alignment in aligned.alignments])
        wrong = length = 0
        for answers in references:
            distance, shortness = min((next(distances), -len(answer.split())) for answer in answers)
            wrong += distance
            length -= shortness
        signature = f"nrefs:{reference_count(references)}|nearest:yes|version:jiwer-{version('jiwer')}"
        return Score(self.name, 100 * wrong / max(length, 1), signature, self.higher_is_better)


class PronunciationErrorRate:
    """Per cent of the predictions that equal none of their right pronunciations: papers call it word error rate."""

    name = "pronunciation_error_rate"
    higher_is_better = False

    def __init__(self, *, language: str | None = None):
        pass

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        check(predictions, references)
        wrong = sum(
            prediction.split() not in [answer.split() for answer in answers]
            for prediction, answers in zip(predictions, references, strict=True)
        )
        signature = f"nrefs:{reference_count(references)}|version:regard-{__version__}"
        return Score(self.name, 100 * wrong / len(predictions), signature, self.higher_is_better)


def _spaced(text: str) -> str:
    return " ".join(text.split())
