"""BPE-dropout (Provilkov et al. 2020): the same text in other pieces, because merges are skipped by chance.

The `tokenizers` library has it too, but draws from a generator that nobody can seed; a training that goes on
must see the pieces that the one that never stopped would have seen. Its queue also gives a skipped merge more
chances than Algorithm 1 of the paper, which this one follows.
"""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from random import Random

import tokenizers

from regard.text import bytelevel
from regard.text.tokenizer import Tokenizer

Word = tuple[int, ...]  # its ids

# Words on their way that are remembered, because they come again, and the longest of them.
_REMEMBERED, _LONGEST_REMEMBERED = 2**17, 16


class BpeDropout:
    """Cuts rows of ids anew: each merge that could be the next one is skipped with probability `rate`.

    A row that would get more than `longest` ids is left as it is.
    """

    def __init__(self, tokenizer: Tokenizer, rate: float, *, longest: int):
        description = json.loads(tokenizer.to_json())
        model = description["model"]
        assert model["type"] == "BPE", model["type"]
        ids: dict[str, int] = model["vocab"]
        self._rate, self._longest = rate, longest
        self._words = bytelevel.words_of(tokenizers.Tokenizer.from_str(tokenizer.to_json()))
        self._letters = {letter: ids[letter] for letter in bytelevel.ALPHABET}
        self._merges = {
            (ids[left], ids[right]): (rank, ids[left + right])
            for rank, (left, right) in enumerate(model["merges"])
        }
        self._remembered = lru_cache(_REMEMBERED)(lambda word: tuple(self._next(word)))

    def __call__(self, ids: Sequence[int], chance: Random) -> Sequence[int]:
        """Ids of the same text, which has no special piece."""
        cut: list[int] = []
        for word in self._words(ids):
            cut += self._merged(tuple([self._letters[letter] for letter in word]), chance)
        return cut if len(cut) <= self._longest else ids

    def _merged(self, word: Word, chance: Random) -> Word:
        draw, rate = chance.random, self._rate
        while True:
            for fewer in self._remembered(word) if len(word) <= _LONGEST_REMEMBERED else self._next(word):
                if draw() >= rate:
                    word = fewer
                    break
            else:
                return word

    def _next(self, word: Word) -> Iterator[Word]:
        """The word after each merge that is possible: the earliest learned first, of equal ones the leftmost."""
        merges = [
            (self._merges[pair], place) for place, pair in enumerate(pairwise(word)) if pair in self._merges
        ]
        for (_, merged), place in sorted(merges):
            yield (*word[:place], merged, *word[place + 2 :])
