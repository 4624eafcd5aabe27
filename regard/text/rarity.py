"""How often the words of a text were seen before."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Seen:
    word: str
    count: int  # how often


def rarest_words(texts: Sequence[str], seen: Iterable[str], *, lowercase: bool = False) -> list[Seen | None]:
    """For each text its word that `seen` has least often, the first of those; None for a text without words.

    Words are what white space separates, without the punctuation and symbols around them.
    """
    raw: Counter[str] = Counter()
    for text in seen:
        raw.update(text.split())
    counts: Counter[str] = Counter()
    for token, count in raw.items():  # each is looked at once, however often it came
        counts[_word(token, lowercase)] += count
    return [_rarest([_word(token, lowercase) for token in text.split()], counts) for text in texts]


def _rarest(words: Iterable[str], counts: Counter[str]) -> Seen | None:
    known = [Seen(word, counts[word]) for word in words if word]
    return min(known, key=lambda one: one.count, default=None)


def _word(token: str, lowercase: bool) -> str:
    start, end = 0, len(token)
    while start < end and _is_around(token[start]):
        start += 1
    while start < end and _is_around(token[end - 1]):
        end -= 1
    word = token[start:end]
    return word.lower() if lowercase else word


def _is_around(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
