"""Free-form dates to ISO dates: "Saturday 09 May 2018" -> "2018-05-09"."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from regard.core.prediction import View
from regard.tasks.date_pairs import date_pairs
from regard.tasks.text import Splits
from regard.viewing import TextView


@dataclass(frozen=True)
class Dates:
    locales: Sequence[str]
    years: tuple[int, int]
    pairs: int
    validation: int
    test: int
    seed: int
    view: View = field(default_factory=TextView)

    def splits(self) -> Splits:
        """The same dates for the same settings, whatever the training's own seed."""
        made = date_pairs(
            locales=self.locales,
            pairs=self.pairs,
            validation=self.validation,
            test=self.test,
            years=self.years,
            seed=self.seed,
        )
        return Splits(lambda: made.train, made.validation, made.test)
