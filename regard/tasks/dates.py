"""Free-form dates to ISO dates: "Saturday 09 May 2018" -> "2018-05-09"."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from regard.core.prediction import View
from regard.tasks.examples import Examples, OwnFiles
from regard.viewing import TextView


@dataclass(frozen=True)
class Dates:
    no_other_pairs: ClassVar[str | None] = None
    locales: Sequence[str]
    years: tuple[int, int]
    pairs: int
    validation: int
    test: int
    seed: int
    together: tuple[int, int] = (1, 1)  # dates in one source
    own: OwnFiles | None = None  # pairs of the person's own, instead of made ones
    view: View = field(default_factory=TextView)
    target_language: str | None = None

    def examples(self) -> Examples:
        """No two of training, validation and test share a date."""
        if self.own is not None:
            return self.own.examples(validation=self.validation, test=self.test, seed=self.seed, key="target")
        from regard.tasks.date_formats import date_formats  # Babel is loaded only where dates are made
        from regard.tasks.date_pairs import date_pairs

        made = date_pairs(
            locales=self.locales,
            pairs=self.pairs,
            validation=self.validation,
            test=self.test,
            years=self.years,
            together=self.together,
            seed=self.seed,
        )
        formats = date_formats(self.locales)
        note = (
            f"dates in {len(formats.kept)} formats of {len(self.locales)} languages; {len(formats.left_out)} "
            "formats that could be read in two ways are left out (docs/dates.md)"
        )
        return Examples(lambda: made.train, made.validation, made.test, note)
