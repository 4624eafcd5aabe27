"""How many answers are right to the last character."""

from collections.abc import Sequence

from regard import __version__
from regard.metrics.score import Score, check, reference_count


class ExactMatch:
    """Per cent of the predictions that equal one of their references, case and white space included."""

    name = "exact_match"
    higher_is_better = True

    def __init__(self, *, language: str | None = None):
        pass

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        check(predictions, references)
        right = sum(
            prediction in tuple(answers) for prediction, answers in zip(predictions, references, strict=True)
        )
        signature = f"nrefs:{reference_count(references)}|case:mixed|space:yes|version:regard-{__version__}"
        return Score(self.name, 100 * right / len(predictions), signature, self.higher_is_better)
