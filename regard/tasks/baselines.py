"""Answers that need no model, to see what a model's scores are worth."""

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regard.data import Pair

_WORD = re.compile(r"\w+")
_TOO_COMMON = 0.2  # of the training sources: a word that so many have tells little, and costs much
_FEW = 100  # sources that cost nothing


class Baseline(Protocol):
    name: str

    def answers(self, train: Iterable[Pair], sources: Sequence[str]) -> list[str]: ...


class Lead:
    """The first words of the source, as many as a training target has in the mean."""

    name = "lead"

    def answers(self, train: Iterable[Pair], sources: Sequence[str]) -> list[str]:
        words = pairs = 0
        for pair in train:
            words += len(pair.target.split())
            pairs += 1
        mean = max(1, round(words / max(1, pairs)))
        return [" ".join(source.split()[:mean]) for source in sources]


class Nearest:
    """The target of the training source that is most like it: the cosine of tf-idf vectors of words.

        (1 + log tf)·log(N / df)

    Words that more than a fifth of the sources have do not count. The first of equals is taken; a source that
    shares no word with any is answered with nothing.
    """

    name = "nearest"

    def answers(self, train: Iterable[Pair], sources: Sequence[str]) -> list[str]:
        targets: list[str] = []
        numbers: dict[str, int] = {}
        entries = array("q")  # flat: millions of them
        for pair in train:
            for word, count in Counter(_words(pair.source)).items():
                entries.extend((numbers.setdefault(word, len(numbers)), len(targets), count))
            targets.append(pair.target)
        table = np.frombuffer(entries, dtype=np.int64) if entries else np.zeros(0, dtype=np.int64)
        index = _Index(table.reshape(-1, 3), len(numbers), len(targets))
        found = []
        for source in sources:
            known = {numbers[word]: n for word, n in Counter(_words(source)).items() if word in numbers}
            place = index.nearest(known)
            found.append("" if place is None else targets[place])
        return found


class _Index:
    """For each word the texts that have it, with its weight in each."""

    def __init__(self, entries: NDArray[np.int64], vocabulary: int, number: int):
        """A row for each word of each text: the word, the text, and how often it stands there."""
        words, texts, counts = entries.T
        having = np.bincount(words, minlength=vocabulary)  # texts that have each word
        self.number = number
        self.rarity = np.log(number / np.maximum(having, 1))
        self.common = having > max(_TOO_COMMON * number, _FEW)
        weights = np.where(self.common[words], 0.0, (1 + np.log(counts)) * self.rarity[words])
        norms = np.sqrt(np.bincount(texts, weights**2, minlength=number))
        order = np.argsort(words, kind="stable")
        self.texts = texts[order]
        self.weights = weights[order] / np.maximum(norms[self.texts], 1e-12)
        self.starts = np.concatenate([[0], np.cumsum(having)])

    def nearest(self, counts: dict[int, int]) -> int | None:
        likeness = np.zeros(self.number)
        for word, count in counts.items():
            if not self.common[word]:
                some = slice(self.starts[word], self.starts[word + 1])
                likeness[self.texts[some]] += (1 + math.log(count)) * self.rarity[word] * self.weights[some]
        return int(likeness.argmax()) if likeness.any() else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
