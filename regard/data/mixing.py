"""Several stores as one, of which each has its share in every epoch."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regard.core.batch import Batch, Tokens
from regard.data.batches import Integers
from regard.data.fingerprints import fingerprint
from regard.data.store import Recut, TokenStore, recut


def shares(sizes: Sequence[int], weights: Sequence[float], temperature: float) -> list[float]:
    """In proportion to weight · size^(1 / temperature): 1 leaves sizes as they are, a high one makes them alike."""
    raw = [weight * size ** (1 / temperature) for size, weight in zip(sizes, weights, strict=True)]
    return [one / sum(raw) for one in raw]


@dataclass(frozen=True)
class Mixture:
    """An epoch has as many pairs as all stores together, but of each store as many as its share says."""

    stores: Sequence[TokenStore]
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

    def batch(
        self, indices: Sequence[int] | Integers, *, source: Recut | None = None, target: Recut | None = None
    ) -> Batch:
        """As that of a store."""
        found = [self._find(int(index)) for index in indices]
        return Batch(
            Tokens.pad([recut(store.source(row), source) for store, row in found]),
            Tokens.pad([recut(store.target(row), target) for store, row in found]),
        )

    def _find(self, index: int) -> tuple[TokenStore, int]:
        number = int(np.searchsorted(self._starts, index, side="right")) - 1
        return self.stores[number], index - int(self._starts[number])

    @cached_property
    def _starts(self) -> Integers:
        return np.cumsum([0, *(len(store) for store in self.stores[:-1])])
