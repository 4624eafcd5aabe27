"""Points as texts: a series, what is beside it and an answer, each written in one line of JSON.

A source is `[[1.5, 2], [null, 2.5]]`, or an object `{"series": [[...]], "context": [[...]], "target": [[...]]}`,
of which only the series must be there; an answer is `[[x, y], ...]`. In arrays a missing value is not a number.
"""

import json
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError, did_you_mean

Points = NDArray[np.float64]  # steps, values of a point; not a number where a value is missing

LARGEST = 1e15  # a number beyond it is taken for a mistake: squares of such ones leave single precision
_DIGITS = 9  # significant ones: enough to tell any two numbers of single precision apart
_FAR = 1e5  # numbers beyond it are written to their last digit: the steps between them may be small
_PARTS = ("series", "context", "target")


class SeriesSource(NamedTuple):
    """What a source says."""

    series: Points  # what was observed
    context: Points | None = None  # another sequence that helps to go on
    target: Points | None = None  # how it really went on: drawn, never read by a model


def read_points(text: str) -> Points:
    """The points of an answer, or of a series alone."""
    return _points(_parsed(text), "the text")


def read_series_source(text: str) -> SeriesSource:
    """A source, with all that is known beside its series."""
    found = _parsed(text)
    if not isinstance(found, dict):
        source = SeriesSource(_points(found, "the text"))
    else:
        for name in found:
            if name not in _PARTS:
                raise UserError(f"A series has no part {name!r}.{did_you_mean(name, _PARTS)}")
        if "series" not in found:
            raise UserError('There is no "series" in it. Write {"series": [[1, 2], [3, 4]]}.')
        source = SeriesSource(**{name: _points(found[name], f'"{name}"') for name in found})
    if not np.isfinite(source.series).any():
        raise UserError("The series has no known value: all are null.")
    if source.target is not None and source.target.shape[1] != source.series.shape[1]:
        raise UserError(
            f'A point of "target" has {source.target.shape[1]} values but one of the series has '
            f"{source.series.shape[1]}. Give as many."
        )
    return source


def write_points(points: Points) -> str:
    """One line. What is missing, infinite or too large to be read again is null."""
    return "[" + ", ".join(f"[{', '.join(map(_written, point))}]" for point in points.tolist()) + "]"


def write_series_source(series: Points, context: Points | None = None, target: Points | None = None) -> str:
    """One line: the points alone where there is nothing else."""
    if context is None and target is None:
        return write_points(series)
    parts = [
        f'"{name}": {write_points(points)}'
        for name, points in zip(_PARTS, (series, context, target), strict=True)
        if points is not None
    ]
    return "{" + ", ".join(parts) + "}"


def _written(value: float) -> str:
    if not abs(value) <= LARGEST:
        return "null"
    return f"{value + 0.0:.{_DIGITS}g}" if abs(value) < _FAR else repr(value)  # + 0.0: no minus before a zero


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant, parse_int=float, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        found = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise UserError(
            f"This is no series in JSON: {found}. Write it as [[1, 2], [3, 4]], null for what is missing."
        ) from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _once(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(fields)
    if len(found) < len(fields):
        raise ValueError("a part appears twice")
    return found


def _points(found: Any, where: str) -> Points:
    if not isinstance(found, list):
        raise UserError(
            f"A series is a list of points, but {where} is {_quoted(found)}. Write [[1, 2], [3, 4]]."
        )
    if not found:
        raise UserError(f"{_begun(where)} has no points.")
    for number, point in enumerate(found, start=1):
        if not isinstance(point, list):
            raise UserError(
                f"Point {number} of {where} is {_quoted(point)}, not a list of numbers. "
                "Write [[1], [2]] where a point has one value."
            )
        if not point:
            raise UserError(f"Point {number} of {where} has no values.")
        if len(point) != len(found[0]):
            raise UserError(
                f"Point {number} of {where} has {len(point)} values but the first has {len(found[0])}. "
                "Write null for a missing value."
            )
        for value in point:
            _check(value, number, where)
    return np.array(found, dtype=np.float64)  # None becomes not a number


def _check(value: Any, number: int, where: str) -> None:
    if value is None:
        return
    if not isinstance(value, float):
        raise UserError(f"Point {number} of {where} has {_quoted(value)} where a number belongs.")
    if not abs(value) <= LARGEST:
        raise UserError(
            f"Point {number} of {where} has a number beyond {LARGEST:g}. Use a larger unit, or null if it is missing."
        )


def _begun(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _quoted(found: Any) -> str:
    text = json.dumps(found)
    return text if len(text) <= 40 else text[:40] + "…"
