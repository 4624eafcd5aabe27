"""How sure a score is, and whether one run is better than another: by drawing the examples again."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from regard.core.errors import UserError
from regard.metrics.score import Counts, Interval, Tally

RESAMPLES = 1000
TRIALS = 10_000
BOUND = 0.05  # the usual one: below it a difference is called one
SEED = 1
_SAME = 1e-9  # of a value: two roads to the same difference may round differently


@dataclass(frozen=True)
class Comparison:
    """One metric of a run and of another on the same examples."""

    name: str
    value: float
    other: float
    p: float  # how often chance alone makes a difference as large as this one
    higher_is_better: bool

    @property
    def difference(self) -> float:
        return self.value - self.other

    @property
    def verdict(self) -> str:
        """What the usual bound of 5 per cent says."""
        if self.p > BOUND:
            return "no clear difference"
        return "better" if (self.difference > 0) is self.higher_is_better else "worse"


def interval(tally: Tally, *, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """The bootstrap (Koehn 2004): the middle 95 % of the values over examples drawn with replacement."""
    random = np.random.default_rng(seed)
    examples = len(tally.counts)
    values = []
    for _ in range(resamples):
        drawn = np.bincount(random.integers(examples, size=examples), minlength=examples)
        values.append(tally.value(drawn @ tally.counts))
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(float(low), float(high))


def compare(ours: Tally, theirs: Tally, *, trials: int = TRIALS, seed: int = SEED) -> Comparison:
    """Paired approximate randomisation (Riezler & Maxwell 2005), two-sided.

    If both runs were equally good, it would be chance which of two answers came from which. So each trial swaps
    them by the toss of a coin, and p is the share of trials that differ at least as much as the runs do.
    """
    if ours.name != theirs.name:
        raise ValueError(f"{ours.name} and {theirs.name} differ")
    if ours.signature != theirs.signature:
        raise UserError(
            f"{ours.name} is counted in different ways ({ours.signature} and {theirs.signature}), so the runs cannot "
            "be compared by it."
        )
    if len(ours.counts) != len(theirs.counts):
        raise ValueError(f"{len(ours.counts)} examples cannot be paired with {len(theirs.counts)}")
    first, second = ours.counts.sum(axis=0), theirs.counts.sum(axis=0)
    value, other = ours.value(first), theirs.value(second)
    least = abs(value - other) - _SAME * max(abs(value), abs(other))
    reached = sum(
        abs(ours.value(first + moved) - theirs.value(second - moved)) >= least
        for moved in _swaps(theirs.counts - ours.counts, trials, seed)
    )
    return Comparison(ours.name, value, other, (reached + 1) / (trials + 1), ours.higher_is_better)


def _swaps(differences: Counts, trials: int, seed: int) -> Iterator[Counts]:
    """What the sums of the first gain, and those of the second lose, when some examples change sides."""
    random = np.random.default_rng(seed)
    changed = np.flatnonzero(differences.any(axis=1))  # equal counts change nothing
    differences = differences[changed]
    for _ in range(trials):
        yield random.integers(2, size=len(changed)) @ differences
