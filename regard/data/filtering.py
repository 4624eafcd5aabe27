"""Which pairs are left out, and how many that were."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The most pieces that a source and a target may have, without the end mark."""

    source: int
    target: int


@dataclass(frozen=True)
class PairReport:
    """What became of the pairs; each is counted once, under the first thing wrong with it."""

    kept: int = 0
    empty: int = 0  # nothing but white space on one side
    source_too_long: int = 0
    target_too_long: int = 0

    @property
    def total(self) -> int:
        return self.kept + self.empty + self.source_too_long + self.target_too_long

    def __add__(self, other: "PairReport") -> "PairReport":
        return PairReport(
            self.kept + other.kept,
            self.empty + other.empty,
            self.source_too_long + other.source_too_long,
            self.target_too_long + other.target_too_long,
        )

    def __str__(self) -> str:
        reasons = {
            "with an empty side": self.empty,
            "with a source too long": self.source_too_long,
            "with a target too long": self.target_too_long,
        }
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
        if not left_out:
            return f"{self.kept:,} pairs"
        return f"{self.kept:,} of {self.total:,} pairs (left out: {left_out})"
