"""Dates as people write them, and the same dates as ISO 8601 writes them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import islice
from random import Random

from regard.core.errors import UserError
from regard.data.pairs import Pair
from regard.tasks.date_formats import CASINGS, DEFAULT_LOCALES, FIRST_YEAR, LAST_YEAR, date_formats

SEPARATOR = "; "  # between the dates of one source; no format has it


@dataclass(frozen=True)
class DateSplits:
    """Pairs such as `Saturday 09 May 2015` and `2015-05-09`; no two splits share a date."""

    train: list[Pair] = field(repr=False)
    validation: list[Pair] = field(repr=False)
    test: list[Pair] = field(repr=False)

    @property
    def characters(self) -> str:
        """Every character of the sources and targets, once and in order."""
        pairs = (*self.train, *self.validation, *self.test)
        return "".join(sorted({character for pair in pairs for character in pair.source + pair.target}))

    @property
    def longest_source(self) -> str:
        pairs = (*self.train, *self.validation, *self.test)
        return max((pair.source for pair in pairs), key=len)

    def __str__(self) -> str:
        return (
            f"{len(self.train)} pairs of dates to train with, {len(self.validation)} to validate, "
            f"{len(self.test)} to test; {len(self.characters)} characters, "
            f"sources of up to {len(self.longest_source)}"
        )


def date_pairs(
    *,
    locales: Sequence[str] = DEFAULT_LOCALES,
    pairs: int,
    validation: int,
    test: int,
    years: tuple[int, int] = (FIRST_YEAR, LAST_YEAR),
    together: tuple[int, int] = (1, 1),
    seed: int,
) -> DateSplits:
    """Split the days of these years (both included), then write each day in a way drawn by chance.

    Validation and test have every date once. Training goes through all its dates before any comes again.
    The seed decides everything; asking for more of one split leaves validation and test as they are.
    A source has as many dates as `together` says, at least and at most.
    """
    days = _days(years)
    if pairs < 1 or validation < 0 or test < 0:
        raise UserError(
            f"Asked for {pairs} training, {validation} validation and {test} test pairs of dates: "
            "there must be at least one to train with, and no number can be negative."
        )
    sizes = {
        name: _sizes(number, together, Random(f"{seed} {name} together"))
        for name, number in (("train", pairs), ("validation", validation), ("test", test))
    }
    held = {name: sum(sizes[name]) for name in ("validation", "test")}
    if held["validation"] + held["test"] >= len(days):
        raise UserError(
            f"{years[0]} to {years[1]} has {len(days)} dates: too few for {held['validation']} to validate with and "
            f"{held['test']} to test with and at least one to train with. Take more years or fewer pairs."
        )
    Random(f"{seed} dates").shuffle(days)
    end = len(days) - held["validation"]
    again_and_again = _passes(days[held["test"] : end], Random(f"{seed} order"))
    drawn = {"train": again_and_again, "validation": days[end:], "test": days[: held["test"]]}
    writers = _writers(locales)
    made = {
        name: _joined(
            _written(islice(drawn[name], sum(sizes[name])), writers, Random(f"{seed} {name}")), sizes[name]
        )
        for name in sizes
    }
    return DateSplits(**made)


def _sizes(pairs: int, together: tuple[int, int], random: Random) -> list[int]:
    """How many dates each source has, drawn evenly."""
    return [random.randint(*together) for _ in range(pairs)]


def _joined(singles: Sequence[Pair], sizes: Sequence[int]) -> list[Pair]:
    """Pairs of so many dates each, in their order."""
    remaining = iter(singles)
    groups = ([next(remaining) for _ in range(size)] for size in sizes)
    return [
        Pair(SEPARATOR.join(pair.source for pair in group), " ".join(pair.target for pair in group))
        for group in groups
    ]


def _days(years: tuple[int, int]) -> list[date]:
    first, last = years
    if not FIRST_YEAR <= first <= last <= LAST_YEAR:
        raise UserError(
            f"The years {first} to {last} cannot be used: give the first and the last year, "
            f"between {FIRST_YEAR} and {LAST_YEAR}."
        )
    start = date(first, 1, 1)
    return [start + timedelta(number) for number in range((date(last, 12, 31) - start).days + 1)]


def _passes(days: Sequence[date], random: Random) -> Iterator[date]:
    """All days in a new order, and again, without end."""
    while True:
        yield from random.sample(days, len(days))


Writers = list[tuple[str, list[Callable[[date], str]]]]  # of each locale


def _writers(locales: Sequence[str]) -> Writers:
    formats = date_formats(locales).by_locale
    return [(locale, [form.writer() for form in forms]) for locale, forms in formats.items()]


def _written(days: Iterable[date], writers: Writers, random: Random) -> list[Pair]:
    """Each day in the way of a locale, one of its formats and a casing, each drawn evenly."""
    pairs = []
    for day in days:
        locale, writes = random.choice(writers)
        source = random.choice(CASINGS)(random.choice(writes)(day), locale)
        pairs.append(Pair(source, day.isoformat()))
    return pairs
