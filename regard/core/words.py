"""Which words of a text its pieces belong to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float32]

# The words that a piece is part of: nearly always one, none for blanks. None for a mark, which is no text.
Part = tuple[int, ...] | None

_WORD = re.compile(r"\S+")


def numbered(text: str) -> list[int | None]:
    """For each character the number of its word, counted from 0; None for white space."""
    numbers: list[int | None] = [None] * len(text)
    for number, word in enumerate(_WORD.finditer(text)):
        numbers[word.start() : word.end()] = [number] * len(word.group())
    return numbers


def part(numbers: Sequence[int | None]) -> tuple[int, ...]:
    """What a piece with these characters is part of."""
    return tuple(sorted({number for number in numbers if number is not None}))


@dataclass(frozen=True)
class Words:
    """The words of a text, which is cut at white space, and which of them each piece is part of."""

    texts: tuple[str, ...]
    of: tuple[Part, ...]

    def groups(self) -> dict[int, list[int]]:
        """The pieces of each word under its number, and each mark alone under ~its position, in their order.

        Blanks go with what follows them, as in pieces that begin with a blank; the last ones with what
        they follow.
        """
        groups: dict[int, list[int]] = {}
        blanks: list[int] = []
        for position, words in enumerate(self.of):
            if words == ():
                blanks.append(position)
                continue
            for key in words if words is not None else [~position]:
                groups.setdefault(key, []).extend([*blanks, position])
                blanks = []
        if groups:
            groups[next(reversed(groups))] += blanks
        return groups

    def shares(self) -> Shares:
        """`[pieces, groups]`, a row sums to one: how a piece's weight is divided among its words."""
        groups = self.groups().values()
        members = np.zeros((len(self.of), len(groups)), dtype=np.float32)
        for column, positions in enumerate(groups):
            members[positions, column] = 1
        shares: Shares = members / np.maximum(members.sum(axis=1, keepdims=True), 1)
        return shares

    def means(self) -> Shares:
        """`[groups, pieces]`, a row sums to one: a word is the mean of its pieces."""
        members = (self.shares() > 0).T.astype(np.float32)
        means: Shares = members / members.sum(axis=1, keepdims=True)
        return means

    def names(self, pieces: Sequence[str]) -> tuple[str, ...]:
        """The words, and the marks as their pieces are called."""
        return tuple(self.texts[key] if key >= 0 else pieces[~key] for key in self.groups())

    def merged(self) -> "Words":
        """Of the groups themselves: each is a word or a mark."""
        return Words(self.texts, tuple((key,) if key >= 0 else None for key in self.groups()))
