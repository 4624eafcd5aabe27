"""What a model is told of a series: numbers around 0 and of size 1, in one of three measures."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError, did_you_mean
from regard.core.files import write_whole
from regard.core.points import Points, read_points, read_series_source
from regard.data.pairs import Pair

MODES = ("absolute", "relative", "displacement")
FORMAT = "regard.scaling/1"
_TOGETHER = 1000
_FINENESS = 4  # decimals of an answer, below the first digit of the scale


@dataclass(frozen=True)
class Spread:
    """The mean and the standard deviation of each value; 1 for one that is always the same."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    def to_rows(self, values: Points) -> Points:
        return (values - self.mean) / self.scale

    def from_rows(self, rows: Points) -> Points:
        return rows * self.scale + self.mean


@dataclass(frozen=True)
class Scaling:
    """Series to rows for a model, and rows of its answer back to points. Learned from training pairs.

    - `absolute`: points as they are.
    - `relative`: points seen from the last one that was observed.
    - `displacement`: from each point to the next; an answer is summed up from the last observed point. The first row
      of a series is unknown. After a gap stands the mean step since the value that was known last, and an answer
      with a gap in it comes back exactly.

    What is missing stays missing. The last observed point is, for each value, the last one known; where none is, it is
    the mean of the training series.
    """

    mode: str
    points: Spread  # of points as they are
    rows: Spread  # in the mode's measure, before it is scaled
    context: Spread | None = None

    @property
    def size(self) -> int:
        """Values of a point."""
        return len(self.points.mean)

    @property
    def context_size(self) -> int | None:
        return None if self.context is None else len(self.context.mean)

    @property
    def stride(self) -> float | None:
        """How far a step goes, in the mean of squares; None where steps were not measured."""
        if self.mode != "displacement":
            return None
        return math.sqrt(float(np.square(self.rows.mean).sum() + np.square(self.rows.scale).sum()))

    def encode(self, series: Points) -> Points:
        """A row for each observed point."""
        self._check(series)
        return self.rows.to_rows(_measured(self.mode, series, series[:0], self.points.mean)[0])

    def encode_target(self, series: Points, target: Points) -> Points:
        """A row for each point of what follows."""
        self._check(series)
        self._check(target)
        return self.rows.to_rows(_measured(self.mode, series, target, self.points.mean)[1])

    def encode_context(self, context: Points | None) -> Points | None:
        """None where nothing is wanted beside the series."""
        if (context is None) != (self.context is None):
            told, trained = ("no", "with") if context is None else ("a", "without")
            raise UserError(
                f"There is {told} context here, but the model was trained {trained} one. "
                'A source with one is written as {"series": [[...]], "context": [[...]]}.'
            )
        if context is None or self.context is None:
            return None
        _check_width(context, len(self.context.mean), "the context")
        return self.context.to_rows(context)

    def decode(self, series: Points, rows: Points) -> Points:
        """The points that rows of an answer to this series mean."""
        self._check(series)
        measured = self.rows.from_rows(np.asarray(rows, dtype=np.float64))
        if self.mode == "absolute":
            return measured
        origin, ago = _last(series, self.points.mean)
        return origin + measured if self.mode == "relative" else _summed(measured, origin, ago)

    def rounded(self, points: Points) -> Points:
        """Without digits that mean nothing: single precision leaves noise there, another among other sources."""
        decimals = _FINENESS - np.floor(np.log10(self.rows.scale)).astype(int)
        return np.stack(
            [np.round(values, place) for values, place in zip(points.T, decimals, strict=True)], axis=1
        )

    def _check(self, points: Points) -> None:
        _check_width(points, self.size, "a point")

    # ---- learning and keeping

    @staticmethod
    def learn(pairs: Iterable[Pair], mode: str) -> "Scaling":
        """In one pass, so that the pairs need not fit into memory."""
        if mode not in MODES:
            raise UserError(f"There is no way {mode!r} to measure points.{did_you_mean(mode, MODES)}")
        points, rows, context = _Moments(), _Moments(), _Moments()
        number = 0
        for number, pair in enumerate(pairs, start=1):
            try:
                source, target = read_series_source(pair.source), read_points(pair.target)
                if number > 1 and (source.context is None) != (context.count is None):
                    raise UserError(
                        "Some sources have a context and some have none. Give all or none of them one."
                    )
                points.add(source.series)
                # Until the mean is known, a value that a series knows nothing of is measured from 0.
                origin = np.zeros(source.series.shape[1])
                for part in _measured(mode, source.series, target, origin):
                    rows.add(part)
                if source.context is not None:
                    context.add(source.context)
            except UserError as error:
                raise UserError(f"Training pair {number}: {error}") from error
        if not number:
            raise UserError("There are no training pairs to learn the size of points from.")
        return Scaling(
            mode, points.spread(), rows.spread(), None if context.count is None else context.spread()
        )

    def to_json(self) -> str:
        spreads = {"points": self.points, "rows": self.rows, "context": self.context}
        document = {
            "format": FORMAT,
            "mode": self.mode,
            **{
                name: None if one is None else {"mean": one.mean.tolist(), "scale": one.scale.tolist()}
                for name, one in spreads.items()
            },
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"

    def save(self, path: Path) -> None:
        write_whole(path, self.to_json())

    @staticmethod
    def load(path: Path) -> "Scaling":
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["format"] != FORMAT:
                raise ValueError(f"its format is {document['format']!r}, not {FORMAT!r}")
            if document["mode"] not in MODES:
                raise ValueError(f"its mode is {document['mode']!r}")
            points, rows, context = (_spread(document[name]) for name in ("points", "rows", "context"))
            if points is None or rows is None or len(points.mean) != len(rows.mean):
                raise ValueError("its parts do not go with each other")
        except FileNotFoundError as error:
            raise UserError(
                f"{path}: there is no such file. It belongs to the model: copy the whole folder."
            ) from error
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise UserError(
                f"{path}: this tells no scaling of series, or it is damaged ({error})."
            ) from error
        return Scaling(document["mode"], points, rows, context)


class _Moments:
    """Mean and variance of each column, which keeps small differences of large numbers (Chan et al. 1979)."""

    def __init__(self) -> None:
        self.count: NDArray[np.float64] | None = None  # of each value: how often it was known
        self.mean = self.squares = np.zeros(0)
        self._waiting: list[Points] = []  # added up together: one by one takes long

    def add(self, values: Points) -> None:
        if self.count is None:
            self.count, self.mean, self.squares = (np.zeros(values.shape[1]) for _ in range(3))
        _check_width(values, len(self.count), "a point")
        self._waiting.append(values)
        if len(self._waiting) == _TOGETHER:
            self._add_up()

    def _add_up(self) -> None:
        if not self._waiting or self.count is None:
            return
        values = np.concatenate(self._waiting)
        self._waiting = []
        known = np.isfinite(values)
        count = known.sum(axis=0)
        mean = np.where(known, values, 0).sum(axis=0) / np.maximum(count, 1)
        squares = np.square(np.where(known, values - mean, 0)).sum(axis=0)
        total = np.maximum(self.count + count, 1)
        away = mean - self.mean
        self.squares = self.squares + squares + np.square(away) * self.count * count / total
        self.mean = self.mean + away * count / total
        self.count = self.count + count

    def spread(self) -> Spread:
        self._add_up()
        assert self.count is not None
        scale = np.sqrt(self.squares / np.maximum(self.count, 1))
        tiny = scale <= 1e-12 * np.maximum(np.abs(self.mean), 1)  # nothing but rounding
        return Spread(self.mean, np.where(tiny, 1.0, scale))


def _measured(
    mode: str, series: Points, target: Points, unknown: NDArray[np.float64]
) -> tuple[Points, Points]:
    """Both in the measure of the mode. `unknown` is where a value is taken to be that the series knows nothing of."""
    if mode == "absolute":
        return series, target
    origin, ago = _last(series, unknown)
    if mode == "relative":
        return series - origin, target - origin
    return _steps(series), _steps_from(target, origin, ago)


def _last(series: Points, unknown: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The last known of each value, and how many steps it lies before the end of the series."""
    if np.isfinite(series[-1]).all():
        return series[-1], np.zeros(series.shape[1], dtype=np.int64)
    known = np.isfinite(series)
    ago = np.argmax(known[::-1], axis=0)
    there = known.any(axis=0)
    values = series[len(series) - 1 - ago, np.arange(series.shape[1])]
    return np.where(there, values, unknown), np.where(there, ago, 0)


def _steps(series: Points) -> Points:
    """From each known value to the next: the mean step between them, at the later one."""
    found = np.full(series.shape, np.nan)
    if np.isfinite(series).all():  # as most are
        found[1:] = series[1:] - series[:-1]
        return found
    for column, values in enumerate(series.T):
        known = np.flatnonzero(np.isfinite(values))
        found[known[1:], column] = np.diff(values[known]) / np.diff(known)
    return found


def _steps_from(target: Points, origin: NDArray[np.float64], ago: NDArray[np.int64]) -> Points:
    """The same for points that follow one which lies `ago` steps before the end of its series."""
    if np.isfinite(target).all() and not ago.any():
        return np.diff(target, axis=0, prepend=origin[None])
    found = np.full(target.shape, np.nan)
    for column, values in enumerate(target.T):
        known = np.flatnonzero(np.isfinite(values))
        places = np.concatenate([[-1 - ago[column]], known])
        heights = np.concatenate([[origin[column]], values[known]])
        found[known, column] = np.diff(heights) / np.diff(places)
    return found


def _summed(steps: Points, origin: NDArray[np.float64], ago: NDArray[np.int64]) -> Points:
    """What `_steps_from` began with: a step counts for as many as lie since the last that was known."""
    found = np.full(steps.shape, np.nan)
    for column, values in enumerate(steps.T):
        known = np.flatnonzero(np.isfinite(values))
        places = np.concatenate([[-1 - ago[column]], known])
        found[known, column] = origin[column] + np.cumsum(values[known] * np.diff(places))
    return found


def _check_width(points: Points, width: int, what: str) -> None:
    if points.shape[1] != width:
        raise UserError(
            f"{what[0].upper()}{what[1:]} has {points.shape[1]} values here, but {width} in what was trained with."
        )


def _spread(document: Any) -> Spread | None:
    if document is None:
        return None
    mean, scale = (np.array(document[name], dtype=np.float64) for name in ("mean", "scale"))
    if mean.ndim != 1 or mean.shape != scale.shape or not mean.size:
        raise ValueError("a mean and a scale do not go with each other")
    if not all(map(math.isfinite, (*mean.tolist(), *scale.tolist()))) or (scale <= 0).any():
        raise ValueError("a scale is not above 0")
    return Spread(mean, scale)
