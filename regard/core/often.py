"""Warnings that may come thousands of times: a few are told, and how many there were."""

import logging
from collections import defaultdict
from collections.abc import Iterator

FEW = 3


class FirstFew(logging.Filter):
    """Lets a few warnings of a kind pass. Their records say as what they are counted, and may say of whom they tell: of
    the same one again is no news.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, set[int]] = defaultdict(set)

    def filter(self, record: logging.LogRecord) -> bool:
        kind = getattr(record, "counted_as", None)
        if kind is None:
            return True
        seen = self.seen[kind]
        whom = hash(getattr(record, "told_of", len(seen)))
        if whom in seen:
            return False
        seen.add(whom)
        return len(seen) <= FEW

    def rest(self) -> Iterator[str]:
        """A sentence for each kind of which more came."""
        for kind, seen in self.seen.items():
            if len(seen) > FEW:
                yield f"Warning: {len(seen) - FEW:,} more {kind}; {len(seen):,} in all."
