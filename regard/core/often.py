"""Warnings that may come thousands of times: a few are told, and how many there were."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator

FEW = 3
MOST = 100_000  # that are told apart; beyond, all count


class FirstFew(logging.Filter):
    """Lets a few warnings of a kind pass. Their records say as what they are counted, and may say of whom they tell: of
    the same one again is no news.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, set[int]] = defaultdict(set)
        self.beyond: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        kind = getattr(record, "counted_as", None)
        if kind is None:
            return True
        seen = self.seen[kind]
        if len(seen) >= MOST:
            self.beyond[kind] += 1
            return False
        whom = hash(getattr(record, "told_of", len(seen)))
        if whom in seen:
            return False
        seen.add(whom)
        return len(seen) <= FEW

    def rest(self) -> Iterator[str]:
        """A sentence for each kind of which more came."""
        for kind, seen in self.seen.items():
            count = len(seen) + self.beyond[kind]
            if count > FEW:
                yield f"Warning: {count - FEW:,} more {kind}; {count:,} in all."
