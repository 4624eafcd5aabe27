"""Several stores as one, of which each has its share in every epoch."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.core.batch import Batch
from regard.data.batches import Integers
from regard.data.fingerprints import fingerprint
from regard.data.prepared import Batching, Recut, Store


def shares(sizes: Sequence[int], weights: Sequence[float], temperature: float) -> list[float]:
    """In proportion to weight · size^(1 / temperature): 1 leaves sizes as they are, a high one makes them alike."""
    raw = [weight * size ** (1 / temperature) for size, weight in zip(sizes, weights, strict=True)]
    return [one / sum(raw) for one in raw]


@dataclass(frozen=True)
class Mixture(Batching):
    """An epoch has as many pairs as all stores together, but of each store as many as its share says."""

    stores: Sequence[Store]  # all of one kind
    shares: Sequence[float]  # they add up to 1
    seed: int

    def __len__(self) -> int:
        return sum(map(len, self.stores))

    @property
    def fingerprint(self) -> str:
        return fingerprint([store.fingerprint] for store in self.stores)

    @cached_property
    def source_lengths(self) -> NDArray[np.int64]:
        return np.concatenate([store.source_lengths for store in self.stores])

    @cached_property
    def target_lengths(self) -> NDArray[np.int64]:
        return np.concatenate([store.target_lengths for store in self.stores])

    def drawn(self, epoch: int) -> Integers:
        """The pairs of an epoch. A store has all its pairs as often as they fit, and then some by chance."""
        parts = []
        for number, (start, store, share) in enumerate(
            zip(self._starts, self.stores, self.shares, strict=True)
        ):
            chance = np.random.default_rng([self.seed, epoch, number])
            times, more = divmod(round(share * len(self)), len(store))
            whole = np.tile(np.arange(len(store)), times)
            some = np.sort(chance.choice(len(store), size=more, replace=False))
            parts.append(start + np.concatenate([whole, some]))
        return np.concatenate(parts)

    @property
    def report(self) -> str:
        return ", ".join(str(store.report) for store in self.stores)

    def pair(self, number: int, *, source: Recut | None = None, target: Recut | None = None) -> Any:
        place = int(np.searchsorted(self._starts, number, side="right")) - 1
        own = number - int(self._starts[place])
        return self.stores[place].pair(own, source=source, target=target)

    def collate(self, pairs: Sequence[Any]) -> Batch:
        return self.stores[0].collate(pairs)

    @cached_property
    def _starts(self) -> Integers:
        return np.cumsum([0, *(len(store) for store in self.stores[:-1])])
