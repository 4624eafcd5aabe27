"""What is found out about each row of a file, wherever there is a core for it."""

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regard.data.filtering import Filters
from regard.data.lines import BadLineError
from regard.data.pairs import Block, Pair, SkippedLines, stop
from regard.data.sameness import compared
from regard.data.splitting import draw

OUT, PASSES, SHARED = range(
    3
)  # what may become of a row; the last: it passes, but shares a text with pairs held


@dataclass(frozen=True)
class Sifted:
    """Of the rows of one block."""

    fates: NDArray[np.uint8]
    draws: Mapping[str, NDArray[np.uint64]]  # by side, of the rows that are not out
    pairs: int
    any_is_full: bool
    left_out: Counter[str]  # by reason
    skipped: SkippedLines


@dataclass(frozen=True)
class Sift:
    filters: Filters
    skip: bool  # lines that are no pairs are counted instead of being an error
    seed: int
    drawn: tuple[str, ...]  # sides
    held: Mapping[str, frozenset[str]] = field(
        default_factory=dict
    )  # by side, texts that must not come again, as they are compared

    def __call__(self, block: Block) -> Sifted:
        fates = bytearray()
        draws = {side: array("Q") for side in self.drawn}
        pairs, any_is_full = 0, False
        left_out: Counter[str] = Counter()
        skipped = SkippedLines()
        for row in block.rows():
            if isinstance(row, BadLineError):
                (skipped if self.skip else stop)(row)
                fates.append(OUT)
                continue
            pairs += 1
            any_is_full = any_is_full or row.is_full
            if objection := self.filters.objection(row):
                left_out[objection] += 1
                fates.append(OUT)
                continue
            fates.append(SHARED if self._is_held(row) else PASSES)
            for side, numbers in draws.items():
                numbers.append(draw(compared(getattr(row, side)), self.seed))
        return Sifted(
            np.frombuffer(fates, dtype=np.uint8),
            {side: np.frombuffer(numbers, dtype=np.uint64) for side, numbers in draws.items()},
            pairs,
            any_is_full,
            left_out,
            skipped,
        )

    def _is_held(self, pair: Pair) -> bool:
        return any(compared(getattr(pair, side)) in texts for side, texts in self.held.items())
