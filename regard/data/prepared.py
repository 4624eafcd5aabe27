"""What training asks of pairs that are ready to be learned from."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.core.batch import Batch

Recut = Callable[[Sequence[int]], Sequence[int]]  # ids to ids of the same text, both without the end mark


class Store(Protocol):
    """Pairs, each side in the form that a model reads."""

    @property
    def fingerprint(self) -> str:
        """The same for the same pairs."""
        ...

    @property
    def report(self) -> object:
        """What was kept and what was left out, for people."""
        ...

    @property
    def source_lengths(self) -> NDArray[np.int64]: ...

    @property
    def target_lengths(self) -> NDArray[np.int64]: ...

    def __len__(self) -> int: ...

    def pair(self, number: int, *, source: Recut | None = None, target: Recut | None = None) -> Any:
        """One pair; what is given for a side cuts its row into other pieces."""
        ...

    def collate(self, pairs: Sequence[Any]) -> Batch: ...

    def batch(
        self,
        indices: Sequence[int] | NDArray[np.int64],
        *,
        source: Recut | None = None,
        target: Recut | None = None,
    ) -> Batch:
        """Some pairs, padded."""
        ...


class Batching:
    """Makes batches of a store's pairs."""

    def batch(
        self: Store,
        indices: Sequence[int] | NDArray[np.int64],
        *,
        source: Recut | None = None,
        target: Recut | None = None,
    ) -> Batch:
        return self.collate([self.pair(int(index), source=source, target=target) for index in indices])
