"""Words that a vocabulary does not know, with ids of their own for one source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.core.pieces import UNKNOWN
from regard.text.tokenizer import Tokenizer

Window = Callable[[Sequence[Any]], Sequence[Any]]  # what is read of a source: all its pieces, or some of many


@dataclass(frozen=True)
class Borrowing:
    """Unknown words of a source are numbered behind the vocabulary, as they come (See et al. 2017, section 2.2).

    An id means another word in another source. A target's unknown word has the id of the same word in its source;
    if it is not there, it stays unknown.
    """

    tokenizer: Tokenizer  # of both sides
    first: int  # id of the first such word
    window: Window

    def sources(self, texts: Sequence[str]) -> list[list[int]]:
        """Their ids, as many as are read."""
        return [
            self._numbered(self.window(ids), self.window(self._surfaces(text, ids)))
            for text, ids in zip(texts, self.tokenizer.encode_many(texts), strict=True)
        ]

    def targets(self, texts: Sequence[str], sources: Sequence[str]) -> list[list[int]]:
        """All their ids, each text's with the words of its source."""
        found = []
        for text, ids, source in zip(texts, self.tokenizer.encode_many(texts), sources, strict=True):
            words = self.words(source) if UNKNOWN in ids else ()
            known = {word: self.first + number for number, word in enumerate(words)}
            surfaces = self._surfaces(text, ids)
            found.append(
                [
                    one if word is None else known.get(word, one)
                    for one, word in zip(ids, surfaces, strict=True)
                ]
            )
        return found

    def words(self, source: str) -> tuple[str, ...]:
        """The unknown words that are read of a source, in the order of their ids, as they stand with their spaces."""
        ids = self.tokenizer.encode(source)
        return tuple(dict.fromkeys(word for word in self.window(self._surfaces(source, ids)) if word))

    def _numbered(self, ids: Sequence[int], surfaces: Sequence[str | None]) -> list[int]:
        numbers: dict[str, int] = {}
        return [
            one if word is None else numbers.setdefault(word, self.first + len(numbers))
            for one, word in zip(ids, surfaces, strict=True)
        ]

    def _surfaces(self, text: str, ids: Sequence[int]) -> list[str | None]:
        """What stands in the text for each unknown piece, and None for the others."""
        if UNKNOWN not in ids:
            return [None] * len(ids)
        surfaces = self.tokenizer.surfaces(text)
        return [word if one == UNKNOWN else None for one, word in zip(ids, surfaces, strict=True)]
