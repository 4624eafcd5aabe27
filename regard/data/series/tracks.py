"""Tracks: something that moved or changed, measured at even steps."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from regard.core.points import LARGEST, Points, write_points, write_series_source
from regard.data.pairs import Pair

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Track:
    name: str
    values: Points = field(repr=False)  # T D, not a number where one is missing
    context: Points | None = field(default=None, repr=False)  # C E, another sequence beside it
    aligned: bool = False  # the context has a row for each step, of which a window has the observed ones
    series: str = ""  # that it is a part of, where steps are missing in between


@dataclass(frozen=True)
class Moment:
    """One step of a track, as a file has it."""

    time: float
    values: Sequence[float]
    context: Sequence[float] = ()


def windows(
    tracks: Iterable[Track], *, observed: int = 8, predicted: int = 12, stride: int = 1
) -> Iterator[Pair]:
    """All stretches of `observed + predicted` steps that begin at every `stride`-th step of a track.

    The source is what was observed, the target what came then. One in which a side knows no value is left out.
    """
    for track in tracks:
        for start in range(0, len(track.values) - observed - predicted + 1, stride):
            middle = start + observed
            before, after = track.values[start:middle], track.values[middle : middle + predicted]
            if np.isfinite(before).any() and np.isfinite(after).any():
                context = track.context
                if context is not None and track.aligned:
                    context = context[start:middle]
                yield Pair(write_series_source(before, context), write_points(after))


def tracks_of(name: str, moments: Iterable[Moment], *, step: float | None = None) -> Iterator[Track]:
    """The track of moments in their order; where more than a `step` lies between two, another one begins."""
    ordered = sorted(moments, key=lambda moment: moment.time)
    parts: list[list[Moment]] = [[]]
    for moment in ordered:
        if step is not None and parts[-1] and not _is_a(step, moment.time - parts[-1][-1].time):
            parts.append([])
        parts[-1].append(moment)
    for number, part in enumerate(parts, start=1):
        values = np.array([moment.values for moment in part], dtype=np.float64)
        context = np.array([moment.context for moment in part], dtype=np.float64)
        own = name if len(parts) == 1 else f"{name}, part {number}"
        yield Track(own, values, context if context.size else None, aligned=context.size > 0, series=name)


def _is_a(step: float, found: float) -> bool:
    """But for the digits that a clock does not have: seconds since 1970 are known to a ten-millionth."""
    return math.isclose(found, step, rel_tol=1e-3)


def number(text: str) -> float | None:
    """A decimal number that is not too large; None for anything else, such as `nan`, `1_000` or `1e300`."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if abs(value) <= LARGEST else None
