"""What pairs look like, found in one pass: how many, how long, in which scripts, how often the same."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from random import Random

import numpy as np
from numpy.typing import NDArray

from regard.data.filtering import are_identical, fingerprint_of, longest_word, ratio, repeated
from regard.data.pairs import Pair
from regard.data.scripts import scripts_of

SAMPLE = 20_000  # pairs that are looked at more closely
_LEAST_SHARE = 0.02  # of a script's letters: names and quotations are in others


@dataclass(frozen=True)
class Spread:
    """How numbers are spread, such as the lengths of texts."""

    counts: Mapping[int, int]

    @property
    def mean(self) -> float:
        return sum(value * count for value, count in self.counts.items()) / max(1, sum(self.counts.values()))

    @property
    def most(self) -> int:
        return max(self.counts, default=0)

    def covering(self, share: float) -> int:
        """The smallest number that this share of them does not exceed."""
        needed, seen = share * sum(self.counts.values()), 0
        for value in sorted(self.counts):
            seen += self.counts[value]
            if seen >= needed:
                return value
        return self.most


@dataclass(frozen=True)
class Side:
    characters: Spread
    words: Spread
    alphabet: int  # different characters
    scripts: Mapping[str, float]  # share of the sample's letters, the largest first

    @property
    def main_scripts(self) -> list[str]:
        return [script for script, share in self.scripts.items() if share >= _LEAST_SHARE]


@dataclass(frozen=True)
class Survey:
    """What was found in pairs. Those with an empty side are counted and not looked at further."""

    pairs: int
    empty: int
    identical: int
    different_identical: int  # without those that came before
    duplicates: int  # pairs that came before
    sources: NDArray[np.uint64] = field(repr=False)  # a number for each different one
    source: Side
    target: Side
    ratio: Spread  # of tenths: see `filtering.ratio`
    longest_word: Spread
    sample: Sequence[Pair] = field(repr=False)  # drawn evenly

    def usable(self, *, identical: bool) -> int:
        """Pairs with two sides that did not come before; those with the same text on both sides, or without them."""
        return self.pairs - self.empty - self.duplicates - (0 if identical else self.different_identical)

    def sources_shared_with(self, other: "Survey") -> int:
        return len(np.intersect1d(self.sources, other.sources, assume_unique=True))


def look(pairs: Iterable[Pair]) -> Survey:
    """Holds sixteen bytes of each pair, or 24, and a sample of them."""
    seen = _Seen()
    for pair in pairs:
        seen.add(pair)
    return seen.survey()


class _Seen:
    def __init__(self) -> None:
        self.pairs = self.empty = 0
        self.lengths: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
        self.words: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
        self.alphabets: tuple[set[str], set[str]] = (set(), set())
        self.ratios: Counter[int] = Counter()
        self.longest_words: Counter[int] = Counter()
        self.fingerprints, self.sources = array("Q"), array("Q")  # eight bytes each
        self.identical = array("Q")  # fingerprints
        self.sample: list[Pair] = []
        self.chance = Random(1)

    def add(self, pair: Pair) -> None:
        self.pairs += 1
        if not (pair.source.strip() and pair.target.strip()):
            self.empty += 1
            return
        self.fingerprints.append(fingerprint_of(pair))
        if are_identical(pair):
            self.identical.append(self.fingerprints[-1])
        self.sources.append(fingerprint_of(Pair(pair.source, "")))
        for side, text in enumerate(pair.sides):
            self.lengths[side][len(text)] += 1
            self.words[side][len(text.split())] += 1
            self.alphabets[side].update(text)
        self.ratios[ceil(10 * ratio(pair))] += 1
        self.longest_words[longest_word(pair)] += 1
        self._draw(pair)

    def _draw(self, pair: Pair) -> None:
        """Every pair has the same chance to be in the sample, however many there are."""
        if len(self.sample) < SAMPLE:
            self.sample.append(pair)
        elif (place := self.chance.randrange(self.pairs - self.empty)) < SAMPLE:
            self.sample[place] = pair

    def survey(self) -> Survey:
        return Survey(
            pairs=self.pairs,
            empty=self.empty,
            identical=len(self.identical),
            different_identical=len(np.unique(np.frombuffer(self.identical, dtype=np.uint64))),
            duplicates=int(repeated(np.frombuffer(self.fingerprints, dtype=np.uint64)).sum()),
            sources=np.unique(np.frombuffer(self.sources, dtype=np.uint64)),
            source=self._side(0),
            target=self._side(1),
            ratio=Spread(self.ratios),
            longest_word=Spread(self.longest_words),
            sample=self.sample,
        )

    def _side(self, side: int) -> Side:
        return Side(
            Spread(self.lengths[side]),
            Spread(self.words[side]),
            len(self.alphabets[side]),
            scripts_of(pair.sides[side] for pair in self.sample),
        )
