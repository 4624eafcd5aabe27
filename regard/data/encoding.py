"""Pairs to rows of ids, wherever there is a core for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from regard.core.pieces import END
from regard.data.filtering import Limits, PairReport
from regard.data.fingerprints import Fingerprint, framed
from regard.data.pairs import Pair
from regard.data.rows import FlatRows
from regard.text import Tags, TargetTokenizer, Tokenizer, encode_targets

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
    """Rows have the end mark; pairs that are too long for the limits are left out and counted."""

    source: Tokenizer
    target: TargetTokenizer
    limits: Limits
    tags: Tags

    def begun(self) -> Fingerprint:
        """Names a store after all that goes into it: this much before the pairs."""
        found = Fingerprint()
        found.add(f"regard token store {_FORMAT}", str(self.limits.source), str(self.limits.target))
        found.add(self.source.to_json(), self.target.to_json(), *self.tags.names)
        return found

    def __call__(self, block: BlockOfPairs) -> Encoded:
        pairs = block.pairs()
        full = [pair for pair in pairs if pair.is_full]
        encoded = list(
            zip(
                self.source.encode_many([pair.source for pair in full]),
                encode_targets(self.target, [pair.target for pair in full], [pair.language for pair in full]),
                (self.tags.ids(pair.tags) for pair in full),
                strict=True,
            )
        )
        fitting = [row for row in encoded if len(row[0]) <= self.limits.source]
        kept = [row for row in fitting if len(row[1]) <= self.limits.target]
        return Encoded(
            FlatRows.of([[*front, *row, END] for row, _, front in kept], self.sizes[0]),
            FlatRows.of([[*row, END] for _, row, _ in kept], self.sizes[1]),
            PairReport(
                kept=len(kept),
                empty=len(pairs) - len(full),
                source_too_long=len(encoded) - len(fitting),
                target_too_long=len(fitting) - len(kept),
            ),
            framed(chain.from_iterable(pair.texts for pair in pairs)),
        )

    @property
    def sizes(self) -> tuple[int, int]:
        """Different ids on each side."""
        return len(self.source) + len(self.tags), len(self.target)
