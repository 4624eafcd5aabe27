"""Sentences of one language into another, learned from pairs of the person's own."""

from dataclasses import dataclass
from typing import ClassVar

from regard.core.prediction import View
from regard.data import Side
from regard.tasks.examples import Examples, OwnFiles
from regard.viewing import TextView

SPLITS: dict[str, tuple[Side, Side | None]] = {
    "source": ("source", None),
    "target": ("target", None),
    "either": ("source", "target"),
}


@dataclass(frozen=True)
class Translation:
    no_other_pairs: ClassVar[str | None] = None
    own: OwnFiles
    validation: int
    test: int
    seed: int
    split_by: str = "source"  # one of SPLITS
    source_language: str | None = None
    target_language: str | None = None

    @property
    def view(self) -> View:
        return TextView(
            sides=(_label("source", self.source_language), _label("target", self.target_language))
        )

    def examples(self) -> Examples:
        """No two of training, validation and test share a sentence of the side that they are split by."""
        key, also = SPLITS[self.split_by]
        return self.own.examples(
            validation=self.validation, test=self.test, seed=self.seed, key=key, also=also
        )


def _label(side: str, language: str | None) -> str:
    return f"{side} ({language})" if language else side
