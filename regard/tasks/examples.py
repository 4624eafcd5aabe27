"""What every task gives: its pairs, made or read from a person's own files, and how they are asked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from regard.data import Case, Filters, Pair, PairFile, PairReader, Side, Wanted, by_pair, compared, select
from regard.tasks.baselines import Baseline


@dataclass(frozen=True)
class Corpus:
    """Training pairs that are drawn together."""

    name: str
    pairs: Callable[[], Iterable[Pair]] = field(repr=False)
    weight: float = 1.0  # how much more often it is drawn than its size says
    language: str | None = None  # of the targets, where there are several
    mark: str | None = None  # a tag that its sources have beside

    def __str__(self) -> str:
        return f"{self.name} ({self.mark})" if self.mark else self.name


@dataclass(frozen=True)
class Examples:
    """The pairs of a task. `train` is read again and again, so it need not fit into memory."""

    train: Callable[[], Iterable[Pair]] = field(repr=False)
    validation: Sequence[Pair] = field(repr=False)
    test: Sequence[Pair] = field(repr=False)
    note: str | None = None  # what a person should know of them
    cases: Callable[[Iterable[Pair]], list[Case]] = (
        by_pair  # what is asked of held-out pairs, and what is right
    )
    reports: Callable[[], Sequence[str]] = list  # what was left out of them; known once `train` was read
    corpora: Sequence[Corpus] = ()  # what `train` is made of, where parts of it are drawn more or less often
    temperature: float = 1.0  # above 1, small corpora are drawn more often
    languages: tuple[str, ...] = ()  # of the targets, where a source says which one it wants
    marks: tuple[str, ...] = ()  # other tags of the pairs
    baselines: Sequence[Baseline] = ()  # answers that need no model
    in_words: bool = True  # sources are texts, whose words can be rare


class Task(Protocol):
    """An application: its pairs, and how its answers are scored."""

    @property
    def target_language(self) -> str | None:
        """For metrics that need to know it."""
        ...

    @property
    def no_other_pairs(self) -> str | None:
        """Why it is scored on pairs of its own alone; None where any file of pairs will do."""
        ...

    def examples(self) -> Examples: ...


@dataclass(frozen=True)
class OwnFiles:
    """A person's own pairs; validation and test are split off the training pairs, if any, where they are missing."""

    train: Sequence[PairFile]
    validation: Sequence[PairFile]
    test: Sequence[PairFile]
    filters: Filters = field(
        default_factory=Filters
    )  # of the training pairs, and so of what is split off them
    skip_bad_lines: bool = False  # lines that are no pairs are counted instead of being an error

    def examples(
        self, *, validation: int, test: int, seed: int, key: Side, also: Side | None = None
    ) -> Examples:
        """`validation` and `test` are the sizes to split off. No two of the three will share a text of the side
        `key`, nor of `also` where there is one: training pairs that share one with given validation or test pairs
        are left out.
        """
        readers = [PairReader(files, skip=self.skip_bad_lines) for files in (self.validation, self.test)]
        given_validation, given_test = (list(reader()) if reader.files else [] for reader in readers)
        skipped = [f"{reader}: {reader.skipped}" for reader in readers if reader.skipped.reasons]
        if not self.train:
            return Examples(list, given_validation, given_test, reports=lambda: skipped)
        found = select(
            Wanted(
                self.train,
                self.filters,
                self.skip_bad_lines,
                validation=0 if given_validation else validation,
                test=0 if given_test else test,
                seed=seed,
                key=key,
                also=also,
                held=(*given_validation, *given_test),
            )
        )
        reports = [*([found.skipped] if found.skipped else []), *skipped, *found.reports]
        both = [{compared(getattr(pair, key)) for pair in given} for given in (given_validation, given_test)]
        if common := len(both[0] & both[1]):
            reports.append(f"validation and test have {common:,} {key}{'s' if common > 1 else ''} in common")
        return Examples(
            found.train,
            given_validation or found.validation,
            given_test or found.test,
            reports=lambda: reports,
        )
