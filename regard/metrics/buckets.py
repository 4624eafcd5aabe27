"""Quality by source length and by how rare the words of the source are."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from regard.core.figures import figure
from regard.metrics.score import Score, Tally

FREQUENCIES = (0, 1, 10, 100, 1000)  # the least of each bucket


@dataclass(frozen=True)
class Bucket:
    """The examples whose source has `least` to `most` of what the buckets are made by, both included."""

    least: int
    most: int | None  # None: no end
    count: int
    scores: tuple[Score, ...]

    def __str__(self) -> str:
        scores = ", ".join(f"{score.name} {figure(score.value)}" for score in self.scores)
        return f"{self.least}-{'' if self.most is None else self.most} ({self.count}): {scores}"


def by_length(lengths: Sequence[int], tallies: Sequence[Tally], *, buckets: int = 5) -> list[Bucket]:
    """The scores over the shortest sources, the next longer ones, and so on.

    The buckets hold about equally many examples and are never empty; sources of one length stay together,
    so there may be fewer buckets than asked for.
    """
    _check(lengths, tallies, "lengths")
    if buckets < 1:
        raise ValueError(f"buckets is {buckets}; at least one is needed")
    ordered = sorted(lengths)
    ends = [-(-len(ordered) * part // buckets) for part in range(1, buckets + 1)]  # rounded up: never 0
    edges = sorted({ordered[end - 1] for end in ends})
    members: list[list[int]] = [[] for _ in edges]
    for number, length in enumerate(lengths):
        members[bisect_left(edges, length)].append(number)
    return [
        _bucket(min(lengths[number] for number in numbers), edge, numbers, tallies)
        for edge, numbers in zip(edges, members, strict=True)
    ]


def by_frequency(frequencies: Sequence[int | None], tallies: Sequence[Tally]) -> list[Bucket]:
    """The scores over sources whose rarest word was never seen, seen 1 to 9 times, and so on.

    A source without words has no rarest one (None) and is in no bucket; no bucket is empty.
    """
    _check(frequencies, tallies, "frequencies")
    members: list[list[int]] = [[] for _ in FREQUENCIES]
    for number, frequency in enumerate(frequencies):
        if frequency is not None:
            members[bisect_right(FREQUENCIES, frequency) - 1].append(number)
    ends = [*(least - 1 for least in FREQUENCIES[1:]), None]
    return [
        _bucket(least, most, numbers, tallies)
        for least, most, numbers in zip(FREQUENCIES, ends, members, strict=True)
        if numbers
    ]


def _check(measured: Sequence[object], tallies: Sequence[Tally], what: str) -> None:
    for tally in tallies:
        if len(measured) != len(tally.counts):
            raise ValueError(f"{len(tally.counts)} predictions but {what} of {len(measured)} sources")


def _bucket(least: int, most: int | None, numbers: Sequence[int], tallies: Sequence[Tally]) -> Bucket:
    return Bucket(least, most, len(numbers), tuple(tally.over(numbers).score() for tally in tallies))
