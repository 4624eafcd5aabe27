"""Tracks from a CSV file: a line for each step of a track."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from regard.core.errors import UserError, did_you_mean
from regard.data.lines import BadLineError, read_lines
from regard.data.series.tracks import Moment, Track, number, tracks_of

_DELIMITERS = ",;\t"


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are, by the names in its first line."""

    values: tuple[str, ...]
    series: str | None = None  # says which track a line belongs to; None: there is but one
    order: str | None = None  # numbers or ISO dates; None: the lines are in order
    context: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.values:
            raise UserError("No column of values is named: say which columns of the table are predicted.")


def read_csv(path: Path, columns: Columns, *, step: float | None = None) -> list[Track]:
    """The tracks in the order in which they first appear. A missing value is an empty field.

    With `step`, the distance of two successive lines in the order column (seconds, where those are dates), a track
    is cut where more or less lies between them. The delimiter is the one of `,`, `;` and tab that the first
    line has most of.
    """
    tracks: dict[str, dict[float, Moment]] = defaultdict(dict)
    are_dates: bool | None = None  # what stands in the order column
    for line, fields in _rows(path, columns):
        moments = tracks[fields[columns.series] if columns.series else path.stem]
        time = float(len(moments))
        if columns.order:
            text = fields[columns.order]
            is_date, time = _time(text, path, line)
            if are_dates not in (None, is_date):
                found = f"{text[:40]!r} is a {'date' if is_date else 'number'}, but the lines before have "
                wanted = (
                    f"{'numbers' if is_date else 'dates'} as {columns.order}. Give all as one or the other."
                )
                raise BadLineError(path, line, "no order", found + wanted)
            are_dates = is_date
        if time in moments:
            found = f"the series has a line with the {columns.order} {fields[columns.order or '']} already."
            raise BadLineError(path, line, "twice", f"{found} Remove one.")
        moments[time] = Moment(
            time,
            [_value(fields[name], name, path, line) for name in columns.values],
            [_value(fields[name], name, path, line) for name in columns.context],
        )
    if not tracks:
        raise UserError(f"{path}: there is no line under the names of the columns.")
    return [
        track for name, moments in tracks.items() for track in tracks_of(name, moments.values(), step=step)
    ]


def _rows(path: Path, columns: Columns) -> Iterator[tuple[int, dict[str, str]]]:
    """Number and named fields of each line but the first; empty lines are passed over."""
    lines = (line for _, line in read_lines(path))
    header = next(lines, None)
    if header is None:
        raise UserError(f"{path}: the file is empty. The first line names the columns.")
    delimiter = max(_DELIMITERS, key=header.count)
    try:
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    except csv.Error as error:
        raise UserError(f"{path}, line 1: this is no line of CSV ({error}).") from error
    for wanted in filter(None, (columns.series, columns.order, *columns.values, *columns.context)):
        if names.count(wanted) != 1:
            found = "are several columns" if wanted in names else "is no column"
            hint = "" if wanted in names else did_you_mean(wanted, names)
            raise UserError(f"{path}, line 1: there {found} {wanted!r}.{hint}")
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for fields in reader:
            line = reader.line_num + 1
            if not fields:
                continue
            if len(fields) != len(names):
                sentence = f"expected {len(names)} fields, as in line 1, but found {len(fields)}."
                raise BadLineError(path, line, "ragged", sentence)
            yield line, dict(zip(names, (field.strip() for field in fields), strict=True))
    except csv.Error as error:
        raise UserError(f"{path}, line {reader.line_num + 1}: this is no line of CSV ({error}).") from error


def _value(text: str, name: str, path: Path, line: int) -> float:
    if not text:
        return float("nan")
    value = number(text)
    if value is None:
        sentence = f"{name} is {text[:40]!r}. Give a number, or leave the field empty if it is missing."
        raise BadLineError(path, line, "not a number", sentence)
    return value


def _time(text: str, path: Path, line: int) -> tuple[bool, float]:
    """Whether it is a date, and a number that grows with time."""
    value = number(text)
    if value is not None:
        return False, value
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        sentence = f"{text[:40]!r} is no number and no date such as 2024-05-31T12:00:00."
        raise BadLineError(path, line, "no order", sentence) from None
    return True, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
