"""Long texts to short ones, learned from pairs of the person's own: an abstract and its title."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

from regard.core.prediction import View
from regard.tasks.baselines import Lead, Nearest
from regard.tasks.examples import Examples, OwnFiles
from regard.viewing import TextView


@dataclass(frozen=True)
class Summaries:
    no_other_pairs: ClassVar[str | None] = None
    own: OwnFiles
    validation: int
    test: int
    seed: int
    view: View = field(default_factory=lambda: TextView(sides=("text", "summary")))
    target_language: str | None = None

    def examples(self) -> Examples:
        """No two of training, validation and test share a source."""
        found = self.own.examples(validation=self.validation, test=self.test, seed=self.seed, key="source")
        return replace(found, baselines=(Lead(), Nearest()))
