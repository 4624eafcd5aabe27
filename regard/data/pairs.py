"""Sources with their targets, read from files one after the other."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from regard.core.errors import UserError, did_you_mean
from regard.data.lines import read_lines


class Pair(NamedTuple):
    source: str
    target: str


class PairFile(Protocol):
    """Something that pairs are read from, as often as asked, without holding them all."""

    def pairs(self) -> Iterator[Pair]: ...


def read_pairs(files: Iterable[PairFile]) -> Iterator[Pair]:
    """The pairs of all files, in order."""
    for file in files:
        yield from file.pairs()


@dataclass(frozen=True)
class TsvFile:
    """Lines of `source<TAB>target`."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def pairs(self) -> Iterator[Pair]:
        for number, line in read_lines(self.path):
            columns = line.split("\t")
            if len(columns) == 2:
                yield Pair(*columns)
            elif not line:
                raise UserError(
                    f"{self.path}, line {number}: expected 'source<TAB>target' but the line is empty. "
                    "Remove it."
                )
            elif len(columns) == 1:
                raise UserError(
                    f"{self.path}, line {number}: expected 'source<TAB>target' but found no tab. "
                    "Is this a parallel text? Then give both files: one of sources and one of targets."
                )
            else:
                raise UserError(
                    f"{self.path}, line {number}: expected 'source<TAB>target' but found "
                    f"{len(columns) - 1} tabs. Keep two columns; a text with tabs in it fits into JSONL."
                )


@dataclass(frozen=True)
class JsonlFile:
    """Lines of JSON objects, with the source and the target under these names."""

    path: Path
    source: str = "source"
    target: str = "target"

    def __str__(self) -> str:
        return str(self.path)

    def pairs(self) -> Iterator[Pair]:
        for number, line in read_lines(self.path):
            where = f"{self.path}, line {number}"
            fields = _parse(line, where)
            yield Pair(_text(fields, self.source, where), _text(fields, self.target, where))


@dataclass(frozen=True)
class ParallelFiles:
    """Two texts whose lines belong together."""

    source: Path
    target: Path

    def __str__(self) -> str:
        return f"{self.source} with {self.target}"

    def pairs(self) -> Iterator[Pair]:
        # The counts of lines are what both readers have numbered last.
        sources = targets = 0
        for source, target in zip_longest(read_lines(self.source), read_lines(self.target)):
            sources = source[0] if source else sources
            targets = target[0] if target else targets
            if source and target:
                yield Pair(source[1], target[1])
        if sources != targets:
            raise UserError(
                f"{self.source} has {sources:,} lines but {self.target} has {targets:,}: "
                "they are not parallel. Give files in which line n belongs to line n."
            )


class _RepeatedNameError(ValueError):
    pass


def _once(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(fields)
    if len(found) < len(fields):
        names = [name for name, _ in fields]
        repeated = next(name for name in names if names.count(name) > 1)
        raise _RepeatedNameError(f"the field {repeated!r} appears twice")
    return found


def _parse(line: str, where: str) -> dict[str, Any]:
    try:
        fields = json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise UserError(f"{where}: expected one JSON object but {_found(line, reason)}.") from error
    if not isinstance(fields, dict):
        raise UserError(f'{where}: expected a JSON object like {{"source": "...", "target": "..."}}.')
    return fields


def _found(line: str, reason: str) -> str:
    return f"found a mistake: {reason}" if line.strip() else "the line is empty; remove it"


def _text(fields: dict[str, Any], name: str, where: str) -> str:
    if name not in fields:
        raise UserError(f"{where}: there is no field {name!r}.{did_you_mean(name, fields)}")
    value = fields[name]
    if not isinstance(value, str):
        raise UserError(
            f"{where}: the field {name!r} must be text in quotes but is {json.dumps(value)[:40]}."
        )
    return value
