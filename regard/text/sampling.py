"""Sub-word regularisation (Kudo 2018): the same text in other pieces, drawn from all cuts of a unigram model."""

import json
from bisect import bisect
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import exp, log
from random import Random
from typing import NamedTuple

import tokenizers

from regard.core.pieces import SPECIAL_PIECES
from regard.text import bytelevel
from regard.text.tokenizer import Tokenizer

_REMEMBERED = 2**15  # words, because they come again


class _Ends(NamedTuple):
    """The pieces that may end at a place of a word: how likely they and those before them are, and where they begin."""

    chances: list[float]  # added up, the last one is 1 but for rounding
    starts: list[int]
    ids: list[int]


class UnigramSampling:
    """Cuts rows of ids anew: a cut is drawn with the probability of its pieces, to the power `sharpness`.

    Near 0 all cuts are alike, at 1 they come as the model finds them likely, far above it the best one comes.
    Sums over all cuts up to each place of a word are made first, then pieces are drawn from its end backwards.
    A row that would get more than `longest` ids is left as it is.
    """

    def __init__(self, tokenizer: Tokenizer, sharpness: float, *, longest: int):
        model = json.loads(tokenizer.to_json())["model"]
        assert model["type"] == "Unigram", model["type"]
        self._sharpness, self._longest = sharpness, longest
        self._words = bytelevel.words_of(tokenizers.Tokenizer.from_str(tokenizer.to_json()))
        self._pieces: dict[str, tuple[int, float]] = {
            piece: (number, score)
            for number, (piece, score) in enumerate(model["vocab"])
            if number >= len(SPECIAL_PIECES)
        }
        self._longest_piece = max(map(len, self._pieces))
        self._lattice = lru_cache(_REMEMBERED)(self._filtered)

    def __call__(self, ids: Sequence[int], chance: Random) -> Sequence[int]:
        """Ids of the same text, which has no special piece."""
        cut: list[int] = []
        for word in self._words(ids):
            cut += self._drawn(word, chance)
        return cut if len(cut) <= self._longest else ids

    def _drawn(self, word: str, chance: Random) -> list[int]:
        lattice = self._lattice(word)
        drawn: list[int] = []
        end = len(word)
        while end:
            chances, starts, ids = lattice[end]
            place = min(bisect(chances, chance.random()), len(ids) - 1)
            drawn.append(ids[place])
            end = starts[place]
        return drawn[::-1]

    def _filtered(self, word: str) -> list[_Ends]:
        """For each place of the word, the pieces that may end there."""
        totals = [0.0]  # log of the summed weights of all cuts up to each place
        lattice = [_Ends([], [], [])]
        for end in range(1, len(word) + 1):
            found = [
                (start, *self._pieces[piece])
                for start in range(max(0, end - self._longest_piece), end)
                if (piece := word[start:end]) in self._pieces
            ]
            weights = [totals[start] + self._sharpness * score for start, _, score in found]
            most = max(weights)  # each byte is a piece, so there is one
            total = most + log(sum(exp(weight - most) for weight in weights))
            totals.append(total)
            chances = list(accumulate(exp(weight - total) for weight in weights))
            lattice.append(_Ends(chances, [start for start, *_ in found], [number for _, number, _ in found]))
        return lattice
