"""Series that are made, for tests and for people without data: arm movements and Lissajous figures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.core.points import Points, read_series_source, write_points, write_series_source
from regard.data.pairs import Pair

_DECIMALS = 4  # of what is written
_SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class SeriesSplits:
    """No two splits share a source."""

    train: list[Pair] = field(repr=False)
    validation: list[Pair] = field(repr=False)
    test: list[Pair] = field(repr=False)


class Reach(NamedTuple):
    """One arm movement."""

    series: Points
    context: Points
    target: Points


@dataclass(frozen=True)
class Arms:
    """The hand of an arm with two joints that reaches for one place after the other.

    From place to place the hand goes straight and with a bell-shaped speed, as people's do (Flash & Hogan 1985):
    10τ³ − 15τ⁴ + 6τ⁵ of the way at the share τ of the time, `stretch` steps for each. The last of `past` reaches was
    observed up to its end; `reaches` more follow. Where they go is known to the sensors alone: `readings` of them, in
    any order, hold a place each. Of `reaches` readings a mark says for which of the reaches they are; the others hold
    places nobody goes to. So each step of the answer needs one reading, found by its mark and not by its position, and
    without the context the next place may be anywhere that the arm can reach.
    """

    stretch: int = 4  # steps of one reach
    past: int = 2
    reaches: int = 3
    readings: int = 6
    bones: tuple[float, float] = (0.6, 0.4)  # upper arm and forearm

    def __post_init__(self) -> None:
        if self.stretch < 1 or self.past < 1 or self.reaches < 1 or self.readings < self.reaches:
            raise UserError(
                f"Arms with {self.past} past and {self.reaches} coming reaches of {self.stretch} steps and "
                f"{self.readings} readings cannot be: there must be one of each, and a reading for each reach."
            )

    @property
    def observed(self) -> int:
        return self.past * self.stretch

    @property
    def predicted(self) -> int:
        return self.reaches * self.stretch

    def pairs(self, *, train: int, validation: int, test: int, seed: int) -> SeriesSplits:
        """The seed decides everything; asking for more of one split leaves the others as they are."""

        def written(random: np.random.Generator) -> Pair:
            reach = self.reach(random)
            return Pair(write_series_source(reach.series, reach.context), write_points(reach.target))

        return _splits(written, (train, validation, test), seed)

    def reach(self, random: np.random.Generator) -> Reach:
        places = self._places(random, 1 + self.past + self.reaches)
        path = np.concatenate(
            [self._path(start, end) for start, end in pairwise(places)]
        )  # every step of all reaches
        path = path.round(_DECIMALS)
        order = random.permutation(self.readings)  # where the readings of the reaches stand, then the others
        context = np.zeros((self.readings, self.reaches + 2))
        context[order[: self.reaches], : self.reaches] = np.eye(self.reaches)
        context[order[: self.reaches], self.reaches :] = places[1 + self.past :]
        others = order[self.reaches :]
        context[others, self.reaches :] = self._places(random, len(others))
        return Reach(path[: self.observed], context.round(_DECIMALS), path[self.observed :])

    def needed(self, source: str) -> list[int]:
        """For each step of the answer the reading, counted from 0, that tells where it goes."""
        context = read_series_source(source).context
        assert context is not None, "a source of arms has a context"
        marked = context[:, : self.reaches].argmax(axis=0)  # of each reach
        return [int(marked[step // self.stretch]) for step in range(self.predicted)]

    def told(self, source: str) -> Points:
        """The right answer, from all that the source says: to see that it says enough."""
        series, context, _ = read_series_source(source)
        assert context is not None, "a source of arms has a context"
        places = [
            series[-1],
            *(context[reading, self.reaches :] for reading in self.needed(source)[:: self.stretch]),
        ]
        return np.concatenate([self._path(start, end) for start, end in pairwise(places)])

    def _places(self, random: np.random.Generator, number: int) -> Points:
        """Of the hand, for a shoulder that turns by half a circle and an elbow that bends one way."""
        shoulder, elbow = random.uniform(0, np.pi, number), random.uniform(0.1, 0.9, number) * np.pi
        upper, fore = self.bones
        directions = ((upper, shoulder), (fore, shoulder + elbow))
        return np.stack(
            [sum(bone * turn(angle) for bone, angle in directions) for turn in (np.cos, np.sin)], axis=1
        )

    def _path(self, start: NDArray[np.float64], end: NDArray[np.float64]) -> Points:
        time = np.arange(1, self.stretch + 1) / self.stretch
        share = 10 * time**3 - 15 * time**4 + 6 * time**5
        path: Points = start + share[:, None] * (end - start)
        return path


@dataclass(frozen=True)
class Lissajous:
    """x = a·sin(f·t + φ), y = b·sin(g·t), with sizes and φ drawn evenly and f and g from whole numbers.

    It just goes on: nothing but the series is needed.
    """

    observed: int = 16
    predicted: int = 16
    step: float = 0.2  # of t
    frequencies: tuple[int, ...] = (1, 2, 3)

    def pairs(self, *, train: int, validation: int, test: int, seed: int) -> SeriesSplits:
        """The seed decides everything; asking for more of one split leaves the others as they are."""

        def written(random: np.random.Generator) -> Pair:
            path = self.figure(random)
            return Pair(write_points(path[: self.observed]), write_points(path[self.observed :]))

        return _splits(written, (train, validation, test), seed)

    def figure(self, random: np.random.Generator) -> Points:
        f, g = random.choice(self.frequencies, 2)
        a, b = random.uniform(0.5, 1.5, 2)
        phase, start = random.uniform(0, 2 * np.pi, 2)
        time = start + self.step * np.arange(self.observed + self.predicted)
        path: Points = np.stack([a * np.sin(f * time + phase), b * np.sin(g * time)], axis=1).round(_DECIMALS)
        return path


def _splits(
    written: Callable[[np.random.Generator], Pair], sizes: tuple[int, int, int], seed: int
) -> SeriesSplits:
    """Each split has chances of its own. A source that another split may have had is drawn again."""
    if sizes[0] < 1 or min(sizes) < 0:
        raise UserError(
            f"Asked for {sizes[0]} training, {sizes[1]} validation and {sizes[2]} test series: there must be at "
            "least one to train with, and no number can be negative."
        )
    made: dict[str, list[Pair]] = {}
    seen: set[str] = set()
    for number in (2, 1, 0):  # training last: it makes room for the others
        random = np.random.default_rng([seed, number])
        pairs = made[_SPLITS[number]] = []
        while len(pairs) < sizes[number]:
            pair = written(random)
            if pair.source not in seen:
                pairs.append(pair)
                seen.add(pair.source)
    return SeriesSplits(**made)
