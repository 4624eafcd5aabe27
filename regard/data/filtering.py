"""Which pairs are left out, and how many that were."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.pairs import Pair
from regard.data.sameness import compared
from regard.data.scripts import is_mostly

_SLACK = 10  # characters: short texts may differ more


def _ends(row: Sequence[Any], size: int) -> Sequence[Any]:
    """As much of the beginning as of the end."""
    last = size // 2
    return [*row[: size - last], *row[len(row) - last :]]


WINDOWS: dict[str, Callable[[Sequence[Any], int], Sequence[Any]]] = {
    "first": lambda row, size: row[:size],
    "last": lambda row, size: row[len(row) - size :],
    "ends": _ends,
}


@dataclass(frozen=True)
class Limits:
    """The most pieces that a source and a target may have, without the end mark."""

    source: int
    target: int
    read: str | None = None  # one of WINDOWS: what is read of a longer source; None: its pair is left out

    def window(self, row: Sequence[Any]) -> Sequence[Any]:
        """What is read of a source."""
        return row if len(row) <= self.source else WINDOWS[self.read or "first"](row, self.source)


@dataclass(frozen=True)
class Filters:
    """What a pair must be to be used; as it stands here, nothing is asked."""

    empty: bool = False  # pairs with nothing but white space on one side are left out
    identical: bool = False  # pairs with the same text on both sides
    duplicates: bool = False  # pairs that came before
    max_characters: int | None = None  # of a side
    max_ratio: float | None = None  # characters for each one of the other side, plus 10
    max_word: int | None = None  # characters between two spaces
    source_scripts: tuple[str, ...] = ()  # at least half of the letters are of one of these, if there are any
    target_scripts: tuple[str, ...] = ()

    def objection(self, pair: Pair) -> str | None:
        """The first thing wrong with a pair, except that it came before."""
        source, target = pair.sides
        if self.empty and not pair.is_full:
            return "with an empty side"
        if self.identical and are_identical(pair):
            return "with the same text on both sides"
        if self.max_characters is not None and max(len(source), len(target)) > self.max_characters:
            return "with too many characters"
        if self.max_ratio is not None and ratio(pair) > self.max_ratio:
            return "with sides of too different lengths"
        if self.max_word is not None and longest_word(pair) > self.max_word:
            return "with an over-long word"
        if self.source_scripts and not is_mostly(source, self.source_scripts):
            return "with a source in another script"
        if self.target_scripts and not is_mostly(target, self.target_scripts):
            return "with a target in another script"
        return None


def are_identical(pair: Pair) -> bool:
    return compared(pair.source) == compared(pair.target)


def ratio(pair: Pair) -> float:
    """Characters of the longer side for each one of the shorter, where the longer has ten for nothing."""
    shorter, longer = sorted((len(pair.source), len(pair.target)))
    return max(0, longer - _SLACK) / max(1, shorter)


def longest_word(pair: Pair) -> int:
    return max((len(word) for text in pair.sides for word in text.split()), default=0)


def fingerprint_of(pair: Pair) -> int:
    """Eight bytes: two of ten million pairs share them in one case of 370,000."""
    source, target = (compared(side).encode("utf-8", "surrogatepass") for side in pair.sides)
    return int.from_bytes(blake2b(b"%d " % len(source) + source + target, digest_size=8).digest(), "big")


def repeated(found: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """For each number whether it came before."""
    order = np.argsort(found, kind="stable")
    again = np.zeros(len(found), dtype=np.bool_)
    again[order[1:]] = found[order[1:]] == found[order[:-1]]
    return again


@dataclass(frozen=True)
class PairReport:
    """What became of the pairs; each is counted once, under the first thing wrong with it."""

    kept: int = 0
    empty: int = 0  # nothing but white space on one side
    source_too_long: int = 0
    target_too_long: int = 0
    cut: int = 0  # of those kept, with a source of which a part is read

    @property
    def total(self) -> int:
        return self.kept + self.empty + self.source_too_long + self.target_too_long

    def __add__(self, other: "PairReport") -> "PairReport":
        return PairReport(
            self.kept + other.kept,
            self.empty + other.empty,
            self.source_too_long + other.source_too_long,
            self.target_too_long + other.target_too_long,
            self.cut + other.cut,
        )

    def __str__(self) -> str:
        reasons = {
            "with an empty side": self.empty,
            "with a source too long": self.source_too_long,
            "with a target too long": self.target_too_long,
        }
        cut = f"; {self.cut:,} have a long source, of which a part is read" if self.cut else ""
        return counted(self.kept, reasons) + cut


def counted(kept: int, reasons: Mapping[str, int]) -> str:
    """`90 of 100 pairs (left out: 10 with an empty side)`"""
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
    if not left_out:
        return f"{kept:,} pairs"
    return f"{kept:,} of {kept + sum(reasons.values()):,} pairs (left out: {left_out})"
