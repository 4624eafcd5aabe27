"""Links between words, read off what was looked at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.core.prediction import AttentionRecord

Links = frozenset[tuple[int, int]]  # of a source word and a target word, both counted from 0
Looks = NDArray[np.float32]  # [target words, source words]


class Aligner(Protocol):
    """Chooses links by how much each target word looked at each source word."""

    def __call__(self, looks: Looks) -> Links: ...


@dataclass(frozen=True)
class Argmax:
    """Each target word and the source word it looked at most; none where it looked at no word."""

    def __str__(self) -> str:
        return "argmax"

    def __call__(self, looks: Looks) -> Links:
        if looks.shape[1] == 0:
            return frozenset()
        best = looks.argmax(axis=1).tolist()
        return frozenset((source, target) for target, source in enumerate(best) if looks[target, source] > 0)


@dataclass(frozen=True)
class Threshold:
    """All links of at least this weight: a target word may have several, or none."""

    least: float = 0.3

    def __post_init__(self) -> None:
        if not 0 < self.least <= 1:
            raise UserError(
                f"A threshold of {self.least:g} links everything or nothing. Give one above 0, up to 1."
            )

    def __str__(self) -> str:
        return f"threshold-{self.least:g}"

    def __call__(self, looks: Looks) -> Links:
        targets, sources = np.nonzero(looks >= self.least)
        return frozenset(zip(sources.tolist(), targets.tolist(), strict=True))


ALIGNERS: Mapping[str, type[Argmax] | type[Threshold]] = {"argmax": Argmax, "threshold": Threshold}


def align(
    record: AttentionRecord, by: Aligner | None = None, *, layer: int | None = None, head: int | None = None
) -> Links:
    """The links between the words of an answer and of its source."""
    return (by or Argmax())(word_looks(record, layer=layer, head=head))


def word_looks(record: AttentionRecord, *, layer: int | None = None, head: int | None = None) -> Looks:
    """How much each word of the answer looked at each word of the source; marks are left out.

    Of one layer, or the usual one, and of one head, or their mean. A word that was cut off, because the
    text was too long, neither looks nor is looked at.
    """
    words = record.in_words()
    assert words.source_words is not None
    assert words.target_words is not None
    sides = (words.target_words, words.source_words)
    looks = np.zeros([len(side.texts) for side in sides], dtype=np.float32)
    if looks.size == 0:
        return looks
    matrix = words.cross(usual_layer(record) if layer is None else layer, head)  # T S, with marks
    (rows, targets), (columns, sources) = (_standing(side.of) for side in sides)
    looks[np.ix_(targets, sources)] = matrix[np.ix_(rows, columns)]
    return looks


def usual_layer(record: AttentionRecord) -> int | None:
    """The last but one, if there are several: where Transformers align best (Garg et al. 2019).

    Layers that never see the source, as some of one stream, are not counted. None, which is the mean over all, for an
    ensemble: its members may be of any kinds.
    """
    if "cross" not in record.weights:
        return None
    seeing = np.flatnonzero(record.weights["cross"].any(axis=(1, 2, 3)))
    return int(seeing[-2:][0]) if len(seeing) else 0


def intersection(forward: Links, backward: Links) -> Links:
    """What two models agree on; `backward` is of the other direction, so its sources are our targets."""
    return forward & _turned(backward)


def union(forward: Links, backward: Links) -> Links:
    """What either of two models says; `backward` is of the other direction."""
    return forward | _turned(backward)


def _turned(links: Links) -> Links:
    return frozenset((source, target) for target, source in links)


def _standing(parts: tuple[tuple[int, ...] | None, ...]) -> tuple[list[int], list[int]]:
    """Where words stand among words and marks, and their numbers."""
    places = [place for place, part in enumerate(parts) if part is not None]
    return places, [part[0] for part in parts if part is not None]
