"""A tokenizer for each language, in one table of ids: special pieces first, then the pieces of each language."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

from regard.core.pieces import SPECIAL_PIECES, UNKNOWN
from regard.core.words import Words
from regard.text.tokenizer import Tokenizer

_SPECIAL = len(SPECIAL_PIECES)


class LanguageTokenizer:
    """The tokenizer of one language, whose pieces begin at `first` instead of behind the special ones."""

    def __init__(self, tokenizer: Tokenizer, first: int):
        self.tokenizer = tokenizer
        self.first = first

    @property
    def ids(self) -> range:
        return range(self.first, self.first + len(self.tokenizer) - _SPECIAL)

    def encode(self, text: str) -> list[int]:
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        shift = self.first - _SPECIAL
        return [
            [number if number < _SPECIAL else number + shift for number in row]
            for row in self.tokenizer.encode_many(texts)
        ]

    def own(self, ids: Iterable[int]) -> list[int]:
        """As the tokenizer numbers them; pieces of other languages are unknown to it."""
        shift = self.first - _SPECIAL
        return [
            number if number < _SPECIAL else number - shift if number in self.ids else UNKNOWN
            for number in ids
        ]

    def words(self, text: str) -> Words:
        return self.tokenizer.words(text)


class LanguageTokenizers:
    """For targets. Ids say which language they are of; a text has to be said which."""

    def __init__(self, tokenizers: Mapping[str, Tokenizer]):
        self.tokenizers: dict[str, LanguageTokenizer] = {}
        first = _SPECIAL
        for language in sorted(tokenizers):
            self.tokenizers[language] = LanguageTokenizer(tokenizers[language], first)
            first = self.tokenizers[language].ids.stop
        self._size = first

    def __len__(self) -> int:
        return self._size

    def of(self, language: str) -> LanguageTokenizer:
        return self.tokenizers[language]

    def that_says(self, ids: Sequence[int]) -> LanguageTokenizer:
        """The one whose piece comes first; any where there is none."""
        everyone = list(self.tokenizers.values())
        said = (one for number in ids if number >= _SPECIAL for one in everyone if number in one.ids)
        return next(said, everyone[0])

    def others(self, language: str) -> tuple[range, ...]:
        """The ids of all other languages."""
        own = self.of(language).ids
        around = (range(_SPECIAL, own.start), range(own.stop, len(self)))
        return tuple(some for some in around if some)

    def decode(self, ids: Sequence[int], instead: Mapping[int, str] | None = None) -> str:
        one = self.that_says(ids)
        return one.tokenizer.decode(one.own(ids), instead)

    def words_of(self, ids: Sequence[int], instead: Mapping[int, str] | None = None) -> Words:
        one = self.that_says(ids)
        return one.tokenizer.words_of(one.own(ids), instead)

    def spaced(self, word: str) -> str:
        """All are learned alike, so that their pieces have spaces or none."""
        return next(iter(self.tokenizers.values())).tokenizer.spaced(word)

    def pieces(self, ids: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._names[number] for number in ids)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        own = (one.tokenizer.pieces(range(_SPECIAL, len(one.tokenizer))) for one in self.tokenizers.values())
        return (*SPECIAL_PIECES, *chain.from_iterable(own))

    def to_json(self) -> str:
        return json.dumps({language: one.tokenizer.to_json() for language, one in self.tokenizers.items()})


TargetTokenizer = Tokenizer | LanguageTokenizers


def encode_targets(
    target: TargetTokenizer, texts: Sequence[str], languages: Sequence[str | None]
) -> list[list[int]]:
    """A row of ids for each text, by the tokenizer of its language if there are several."""
    if isinstance(target, Tokenizer):
        return target.encode_many(texts)
    rows: list[list[int]] = [[] for _ in texts]
    for language in dict.fromkeys(languages):
        assert language is not None, "a text of several languages has one"
        places = [place for place, one in enumerate(languages) if one == language]
        some = target.of(language).encode_many([texts[place] for place in places])
        for place, row in zip(places, some, strict=True):
            rows[place] = row
    return rows
