"""Sentences of one language into another, learned from pairs of the person's own."""

from dataclasses import dataclass

from regard.core.prediction import View
from regard.tasks.text import Examples, OwnFiles
from regard.viewing import TextView


@dataclass(frozen=True)
class Translation:
    own: OwnFiles
    validation: int
    test: int
    seed: int
    source_language: str | None = None
    target_language: str | None = None

    @property
    def view(self) -> View:
        return TextView(
            sides=(_label("source", self.source_language), _label("target", self.target_language))
        )

    def examples(self) -> Examples:
        """No two of training, validation and test share a source sentence."""
        return self.own.examples(
            validation=self.validation, test=self.test, seed=self.seed, key=lambda pair: pair.source
        )


def _label(side: str, language: str | None) -> str:
    return f"{side} ({language})" if language else side
