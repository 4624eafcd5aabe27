"""What answers are like, whether they are right or not. No value is better than another."""

from collections.abc import Callable, Sequence

import numpy as np

from regard import __version__
from regard.metrics.score import Tally

Trait = Callable[[Sequence[str], Sequence[str]], Tally]  # sources and answers to a tally


def novelty(size: int) -> Trait:
    """Per cent of the answers' sequences of `size` words that their sources do not have, in small letters."""

    def tally(sources: Sequence[str], answers: Sequence[str]) -> Tally:
        counts = []
        for source, answer in zip(sources, answers, strict=True):
            known, said = set(_sequences(source, size)), _sequences(answer, size)
            counts.append([sum(one not in known for one in said), len(said)])
        signature = f"words:space|case:lc|size:{size}|version:regard-{__version__}"
        return Tally(f"novelty_{size}", signature, False, np.array(counts, dtype=np.float64), _share)

    return tally


def length(sources: Sequence[str], answers: Sequence[str]) -> Tally:  # noqa: ARG001 (traits are made alike)
    """Words of an answer, in the mean."""
    counts = np.array([[len(answer.split()), 1] for answer in answers], dtype=np.float64)
    return Tally("length", f"words:space|version:regard-{__version__}", False, counts, _mean)


TRAITS: dict[str, Trait] = {
    "novelty_1": novelty(1),
    "novelty_2": novelty(2),
    "novelty_3": novelty(3),
    "length": length,
}


def _sequences(text: str, size: int) -> list[tuple[str, ...]]:
    bare = (word.strip(".,;:!?()\"'") for word in text.lower().split())
    words = [word for word in bare if word]
    return [tuple(words[place : place + size]) for place in range(len(words) - size + 1)]


def _share(sums: Sequence[float]) -> float:
    new, every = sums
    return 100 * new / every if every else 0.0


def _mean(sums: Sequence[float]) -> float:
    words, answers = sums
    return words / answers
