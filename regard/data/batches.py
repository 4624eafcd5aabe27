"""Which examples sit together in a batch."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# Lengths within one step of this ratio count as equal, so that neighbours differ from epoch to epoch.
_STEP = 1.06
# How far chance moves the ratio of source to target, in steps.
_JITTER = 4.0
# Batches of fewer examples cost more for each.
_FEW = 32


class Batches(Sequence[Integers]):
    """The indices of each batch, cut from one order of all examples."""

    def __init__(self, order: Integers, starts: Integers, stops: Integers) -> None:
        self._order, self._starts, self._stops = order, starts, stops

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, position: int) -> Integers: ...
    @overload
    def __getitem__(self, position: slice) -> "Batches": ...
    def __getitem__(self, position: int | slice) -> "Integers | Batches":
        if isinstance(position, slice):
            return Batches(self._order, self._starts[position], self._stops[position])
        return self._order[self._starts[position] : self._stops[position]]

    def __iter__(self) -> Iterator[Integers]:
        return (self[position] for position in range(len(self)))


class BatchPlan:
    """Batches by token budget: rows times the longest source or target is at most the budget.

    One pair that is longer than the budget is a batch of its own. An epoch hangs on the seed and
    its number alone, so that a run can go on in the middle of one; only the current one is kept.
    """

    def __init__(
        self,
        source_lengths: Integers,
        target_lengths: Integers,
        *,
        budget: int,
        seed: int,
        by_length: bool = True,
        drawn: Callable[[int], Integers] | None = None,
    ) -> None:
        """`drawn` gives the examples of an epoch; without it an epoch has all of them once.

        Unless `by_length`, chance alone says who sits together.
        """
        assert len(source_lengths) == len(target_lengths)
        source_lengths, target_lengths = np.maximum(source_lengths, 1), np.maximum(target_lengths, 1)
        self._sizes = np.maximum(source_lengths, target_lengths)
        # Both are logarithms in steps, so that a difference means a ratio.
        self._scale = np.log(self._sizes) / np.log(_STEP)
        self._slant = (np.log(source_lengths) - np.log(target_lengths)) / np.log(_STEP)
        self._budget = budget
        self._seed = seed
        self._by_length = by_length
        self._drawn = drawn
        self._current: tuple[int, Batches] | None = None

    def __len__(self) -> int:
        """The number of examples."""
        return len(self._sizes)

    def epoch(self, number: int) -> Batches:
        if self._current is None or self._current[0] != number:
            self._current = (number, self._plan(number))
        return self._current[1]

    def batch(self, epoch: int, position: int) -> Integers:
        return self.epoch(epoch)[position]

    def _plan(self, epoch: int) -> Batches:
        chance = np.random.default_rng([self._seed, epoch])
        some = self._drawn(epoch) if self._drawn is not None else None
        order = self._order(chance, some) if self._by_length else self._shuffled(chance, some)
        starts, stops = _cut(self._sizes[order], self._budget)
        shuffled = chance.permutation(len(starts))
        return Batches(order, starts[shuffled], stops[shuffled])

    def _shuffled(self, chance: np.random.Generator, some: Integers | None) -> Integers:
        order = chance.permutation(len(self._sizes) if some is None else len(some))
        return order if some is None else some[order]

    def _order(self, chance: np.random.Generator, some: Integers | None) -> Integers:
        """From long to short in steps; inside a step by slant, the ratio of source to target, and chance.

        The steps begin elsewhere in each epoch, or the same examples would always be on either side
        of a border. Every other step runs backwards, for the slant not to jump where they meet.
        """
        scale, slant = (self._scale, self._slant) if some is None else (self._scale[some], self._slant[some])
        step = np.floor(scale + chance.random())
        slant = slant + chance.random(len(scale)) * _JITTER
        # One key instead of two sorts in half the time; no ratio of lengths has this many steps.
        order = np.argsort(np.where(step % 2 == 0, slant, -slant) - step * 1_000, kind="stable")
        return order if some is None else some[order]


def in_order(lengths: Integers, budget: int, *, among: int = 1, few: int = _FEW) -> Batches:
    """Batches of examples sorted by length, the longest first, without any chance: for evaluation.

    Where they are shared out among several, each of whom takes the next one when it is done with the last, they are as
    many for each, and of as many examples; and two for each at the least, unless these would have fewer than `few`
    examples.
    """
    sizes = np.maximum(lengths, 1)
    order = np.argsort(-sizes, kind="stable")
    starts, stops = _cut(sizes[order], budget)
    if among > 1 and len(starts):
        turns = max(-(-len(starts) // among), 2 if len(order) >= 2 * among * few else 1)
        parts = np.unique(np.linspace(0, len(order), turns * among + 1).round().astype(np.int64))
        starts = np.concatenate([_cut(sizes[order[a:b]], budget)[0] + a for a, b in pairwise(parts)])
        stops = np.append(starts[1:], len(order))
    return Batches(order, starts, stops)


def _cut(sizes: Integers, budget: int) -> tuple[Integers, Integers]:
    """Where batches start and stop when each takes as many rows as the budget allows."""
    starts = [0] if len(sizes) else []
    while starts:
        start = starts[-1]
        # The batch is at least as wide as its first row, which bounds its rows.
        window = sizes[start : start + max(1, budget // int(sizes[start]))]
        costs = np.maximum.accumulate(window) * np.arange(1, len(window) + 1)
        stop = start + max(1, int(np.searchsorted(costs, budget, side="right")))
        if stop == len(sizes):
            break
        starts.append(stop)
    bounds = np.array([*starts, len(sizes)], dtype=np.int64)
    return bounds[:-1], bounds[1:]
