"""Pieces that stand before a source and say what is wanted: no text can spell them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Tags:
    """Their ids come after those of the tokenizer, which knows nothing of them."""

    names: tuple[str, ...] = ()
    first: int = 0  # the id of the first

    def __len__(self) -> int:
        return len(self.names)

    def ids(self, tags: Sequence[str]) -> list[int]:
        return [self.first + self.names.index(tag) for tag in tags]

    def before(self, row: Sequence[int]) -> int:
        """How many stand at the start of a row of ids."""
        own = range(self.first, self.first + len(self.names))
        return next((place for place, number in enumerate(row) if number not in own), len(row))

    def shown(self, row: Sequence[int]) -> tuple[str, ...]:
        """Names of those at the start of a row, made to be looked at."""
        return tuple(f"<{self.names[number - self.first]}>" for number in row[: self.before(row)])


class AfterTags:
    """Cuts rows anew but for the tags before them."""

    def __init__(self, recut: Callable[[Sequence[int], Random], Sequence[int]], tags: Tags):
        self._recut, self._tags = recut, tags

    def __call__(self, ids: Sequence[int], chance: Random) -> Sequence[int]:
        front = self._tags.before(ids)
        return [*ids[:front], *self._recut(ids[front:], chance)]


NO_TAGS = Tags()
