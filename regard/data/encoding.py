"""Pairs to rows of ids, wherever there is a core for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from regard.core.pieces import END
from regard.data.filtering import Limits, PairReport
from regard.data.fingerprints import Fingerprint, framed
from regard.data.pairs import Pair
from regard.data.rows import FlatRows
from regard.text import Borrowing, Tags, TargetTokenizer, Tokenizer, encode_targets

_FORMAT = 1


class BlockOfPairs(Protocol):
    def pairs(self) -> Sequence[Pair]: ...


@dataclass(frozen=True)
class HeldBlock:
    """Pairs that are in memory already."""

    held: Sequence[Pair]

    def pairs(self) -> Sequence[Pair]:
        return self.held


@dataclass(frozen=True)
class Encoded:
    """Of the pairs of one block."""

    sources: FlatRows
    targets: FlatRows
    report: PairReport
    content: bytes  # all their texts, to know the store by


@dataclass(frozen=True)
class Encode:
    """Rows have the end mark; pairs that are too long for the limits are left out or cut, and counted."""

    source: Tokenizer
    target: TargetTokenizer
    limits: Limits
    tags: Tags
    borrowing: Borrowing | None = None  # for words that the vocabulary does not know

    def begun(self) -> Fingerprint:
        """Names a store after all that goes into it: this much before the pairs."""
        found = Fingerprint()
        found.add(f"regard token store {_FORMAT}", str(self.limits.source), str(self.limits.target))
        read = [f"reads {self.limits.read}"] if self.limits.read else []
        borrowed = ["borrows"] if self.borrowing else []
        found.add(self.source.to_json(), self.target.to_json(), *self.tags.names, *read, *borrowed)
        return found

    def __call__(self, block: BlockOfPairs) -> Encoded:
        pairs = block.pairs()
        full = [pair for pair in pairs if pair.is_full]
        encoded = list(self._rows(full))
        fitting = [one for one in encoded if self.limits.read is not None or not one[2]]
        kept = [one for one in fitting if len(one[1]) <= self.limits.target]
        return Encoded(
            FlatRows.of([[*row, END] for row, _, _ in kept], self.sizes[0]),
            FlatRows.of([[*row, END] for _, row, _ in kept], self.sizes[1]),
            PairReport(
                kept=len(kept),
                empty=len(pairs) - len(full),
                source_too_long=len(encoded) - len(fitting),
                target_too_long=len(fitting) - len(kept),
                cut=sum(is_long for _, _, is_long in kept),
            ),
            framed(chain.from_iterable(pair.texts for pair in pairs)),
        )

    def _rows(self, pairs: Sequence[Pair]) -> Iterator[tuple[list[int], list[int], bool]]:
        """Source and target without end marks, and whether the source is longer than what is read of it."""
        sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
        whole = self.source.encode_many(sources)
        if self.borrowing:
            read, said = self.borrowing.sources(sources), self.borrowing.targets(targets, sources)
        else:
            read = [list(self.limits.window(row)) for row in whole]
            said = encode_targets(self.target, targets, [pair.language for pair in pairs])
        for pair, row, part, answer in zip(pairs, whole, read, said, strict=True):
            yield [*self.tags.ids(pair.tags), *part], answer, len(row) > self.limits.source

    @property
    def sizes(self) -> tuple[int, int]:
        """Different ids of each side, at the most."""
        more = self.limits.source if self.borrowing else 0
        source = len(self.source) + len(self.tags) + more
        return source, source if self.borrowing else len(self.target)
