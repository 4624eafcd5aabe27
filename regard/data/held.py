"""Pairs whose rows are held: in memory, or in an array that is mapped from a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.core.batch import Batch, Source, Target
from regard.data.prepared import Batching, Recut


@dataclass(frozen=True)
class HeldStore(Batching):
    """Sources may be shared: several captions have one picture."""

    fingerprint: str
    report: object
    sources: Any = field(repr=False)  # rows by their number
    of: NDArray[np.int64] = field(repr=False)  # for each pair the number of its source
    targets: Sequence[Any] = field(repr=False)
    source_lengths: NDArray[np.int64] = field(repr=False)
    target_lengths: NDArray[np.int64] = field(repr=False)
    collate_sources: Callable[[Sequence[Any]], Source] = field(repr=False)
    collate_targets: Callable[[Sequence[Any]], Target] = field(repr=False)

    def __len__(self) -> int:
        return len(self.targets)

    def pair(
        self, number: int, *, source: Recut | None = None, target: Recut | None = None
    ) -> tuple[Any, Any]:
        assert source is None, "what is no text cannot be cut anew"
        assert target is None, "targets are cut anew where sources are"
        return self.sources[int(self.of[number])], self.targets[number]

    def collate(self, pairs: Sequence[tuple[Any, Any]]) -> Batch:
        sources, targets = zip(*pairs, strict=True)
        return Batch(self.collate_sources(sources), self.collate_targets(targets))
