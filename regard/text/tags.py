"""Pieces that stand before a source and say what is wanted: no text can spell them."""

from collections.abc import Sequence
from dataclasses import dataclass


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
        return (
            next((place for place, number in enumerate(row) if number < self.first), len(row))
            if self.names
            else 0
        )

    def shown(self, row: Sequence[int]) -> tuple[str, ...]:
        """Names of those at the start of a row, made to be looked at."""
        return tuple(f"<{self.names[number - self.first]}>" for number in row[: self.before(row)])


NO_TAGS = Tags()
