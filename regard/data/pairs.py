"""Sources with their targets, read from files one after the other."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from regard.core.errors import UserError, did_you_mean
from regard.data.lines import BadLineError, LineBlock, line_blocks, parallel_blocks

_BLOCK_ROWS = 10_000


class Pair(NamedTuple):
    """A source with its target."""

    source: str
    target: str
    tags: tuple[str, ...] = ()  # what stands before the source, for models that are told more than a text
    group: str = ""  # what it is scored with, such as en-de

    @property
    def sides(self) -> tuple[str, str]:
        return self.source, self.target

    @property
    def language(self) -> str | None:
        """Of the target, where a tag says it."""
        return self.tags[0] if self.tags else None

    @property
    def is_full(self) -> bool:
        """Both sides have more than white space."""
        return bool(self.source.strip() and self.target.strip())

    @property
    def texts(self) -> tuple[str, ...]:
        """All that the pair is known by."""
        return (self.source, self.target, *self.tags)


Row = Pair | BadLineError


class Block(Protocol):
    """A part of a file that can be sent to another process, to be read there."""

    def rows(self) -> Iterable[Row]:
        """A pair for each line, or what is wrong with the line."""
        ...


class PairFile(Protocol):
    """Something that pairs are read from, as often as asked, without holding them all."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files whose bytes decide what is read."""
        ...

    def blocks(self) -> Iterator[Block]:
        """All that is in it, in order."""
        ...


def rows_of(file: PairFile) -> Iterator[Row]:
    for block in file.blocks():
        yield from block.rows()


@dataclass(frozen=True)
class ReadBlock:
    """A block that is read already."""

    read: Sequence[Row]

    def rows(self) -> Sequence[Row]:
        return self.read

    @staticmethod
    def of(rows: Iterable[Row]) -> Iterator["ReadBlock"]:
        """As many blocks as it takes."""
        left = iter(rows)
        while some := list(islice(left, _BLOCK_ROWS)):
            yield ReadBlock(some)


def read_pairs(
    files: Iterable[PairFile], on_bad_line: Callable[[BadLineError], None] | None = None
) -> Iterator[Pair]:
    """The pairs of all files, in order. A line that is no pair is told to `on_bad_line`; else it is an error."""
    for file in files:
        for row in rows_of(file):
            if not isinstance(row, BadLineError):
                yield row
            elif on_bad_line is None:
                raise row
            else:
                on_bad_line(row)


class SkippedLines:
    """How many lines were passed over, by reason, and where the first was."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.first: str | None = None

    def __call__(self, bad: BadLineError) -> None:
        self.reasons[bad.reason] += 1
        self.first = self.first or bad.place

    def __add__(self, other: "SkippedLines") -> "SkippedLines":
        both = SkippedLines()
        both.reasons, both.first = self.reasons + other.reasons, self.first or other.first
        return both

    def __str__(self) -> str:
        if not self.reasons:
            return "no line was skipped"
        count = self.reasons.total()
        said = ", ".join(f"{number:,} {reason}" for reason, number in self.reasons.most_common())
        return f"{count:,} {'line was' if count == 1 else 'lines were'} skipped: {said} (first: {self.first})"


class PairReader:
    """The pairs of some files, as often as asked.

    Lines that are no pairs stop it or, where `skip` is given, are counted in `skipped`, the same in every pass.
    Files in which no pair has two sides are an error.
    """

    def __init__(self, files: Sequence[PairFile], *, skip: bool = False):
        self.files = files
        self.skip = skip
        self.skipped = SkippedLines()

    def __str__(self) -> str:
        return named(self.files)

    def __call__(self) -> Iterator[Pair]:
        skipped = SkippedLines()
        pairs, any_is_full = 0, False
        for pair in read_pairs(self.files, skipped if self.skip else stop):
            pairs += 1
            any_is_full = any_is_full or pair.is_full
            yield pair
        self.skipped = skipped
        if not any_is_full:
            raise nothing_there(self.files, pairs, skipped)


def nothing_there(files: Sequence[PairFile], pairs: int, skipped: SkippedLines) -> UserError:
    found = f"all {pairs:,} have an empty side" if pairs else "there is none"
    more = f"; {skipped}" if skipped.reasons else ""
    return UserError(f"{named(files)}: no pair to work with: {found}{more}. Check the file.")


def named(files: Sequence[PairFile]) -> str:
    first, *others = map(str, files)
    return f"{first} and {len(others):,} more" if others else first


def stop(bad: BadLineError) -> None:
    raise UserError(f"{bad} Or skip such lines with --on-bad-line skip.") from bad


@dataclass(frozen=True)
class TsvFile:
    """Lines of `source<TAB>target`, or of more columns, of which `columns` says which two they are, from 1."""

    path: Path
    columns: tuple[int, int] | None = None

    def __str__(self) -> str:
        return str(self.path)

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    def blocks(self) -> Iterator["LinesOfPairs"]:
        return (LinesOfPairs(lines, self._pair) for lines in line_blocks(self.path))

    def _pair(self, line: str, number: int) -> Pair:
        columns = line.split("\t")
        if self.columns is not None:
            return self._chosen(columns, self.columns, number)
        if len(columns) == 2:
            return Pair(columns[0], columns[1])
        if not line:
            found, reason = "the line is empty. Remove it.", "empty"
        elif len(columns) == 1:
            advice = (
                "Columns are parted by tabs here, not by commas: save it as .tsv."
                if ".csv" in self.path.suffixes
                else "Is this a parallel text? Then give both files: one of sources and one of targets."
            )
            found, reason = f"found no tab. {advice}", "without a tab"
        elif "\r" in line:
            found, reason = (
                f"found {len(columns) - 1} tabs and a carriage return, which ends no line here. "
                "Save the file with line feeds.",
                "with too many tabs",
            )
        else:
            found, reason = (
                f"found {len(columns) - 1} tabs. Keep two columns, or say with data.columns (--columns of regard new) "
                "which two they are; a text with tabs in it fits into JSONL.",
                "with too many tabs",
            )
        raise BadLineError(self.path, number, reason, f"expected 'source<TAB>target' but {found}")

    def _chosen(self, texts: list[str], columns: tuple[int, int], number: int) -> Pair:
        if len(texts) < max(columns):
            found = f"expected {max(columns)} columns, with tabs between them, but found {len(texts)}."
            raise BadLineError(self.path, number, "with too few columns", found)
        source, target = columns
        return Pair(texts[source - 1], texts[target - 1])


@dataclass(frozen=True)
class JsonlFile:
    """Lines of JSON objects, with the source and the target under these names."""

    path: Path
    source: str = "source"
    target: str = "target"

    def __str__(self) -> str:
        return str(self.path)

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    def blocks(self) -> Iterator["LinesOfPairs"]:
        return (LinesOfPairs(lines, self._pair) for lines in line_blocks(self.path))

    def _pair(self, line: str, number: int) -> Pair:
        try:
            fields = _parse(line)
            return Pair(_text(fields, self.source), _text(fields, self.target))
        except _NoPairError as found:
            raise BadLineError(self.path, number, found.reason, str(found)) from found


@dataclass(frozen=True)
class ParallelFiles:
    """Two texts whose lines belong together."""

    source: Path
    target: Path

    def __str__(self) -> str:
        return f"{self.source} with {self.target}"

    @property
    def paths(self) -> tuple[Path, ...]:
        return self.source, self.target

    def blocks(self) -> Iterator["ParallelLines"]:
        sources = targets = 0
        for source, target in parallel_blocks(self.paths):
            sources += len(source.raw)
            targets += len(target.raw)
            yield ParallelLines(source, target)
        if sources != targets:
            raise UserError(
                f"{self.source} has {sources:,} lines but {self.target} has {targets:,}: "
                "they are not parallel. Give files in which line n belongs to line n."
            )


@dataclass(frozen=True)
class LinesOfPairs:
    """Lines that hold a pair each, and what reads them."""

    lines: LineBlock
    pair: Callable[[str, int], Pair]

    def rows(self) -> Iterator[Row]:
        path = self.lines.path
        for number, line in self.lines.lines():
            row: Row
            if isinstance(line, BadLineError):
                row = line
            else:
                try:
                    row = self.pair(line, number)
                    row = _with_nul(path, number, *row.sides) or row
                except BadLineError as bad:
                    row = bad
            yield row


@dataclass(frozen=True)
class ParallelLines:
    """Lines that belong together; what one side has more is left alone."""

    source: LineBlock
    target: LineBlock

    def rows(self) -> Iterator[Row]:
        for (number, source), (_, target) in zip(self.source.lines(), self.target.lines(), strict=False):
            yield self._row(source, target, number)

    def _row(self, source: str | BadLineError, target: str | BadLineError, number: int) -> Row:
        """A line is lost together with the one it belongs to."""
        if isinstance(source, BadLineError):
            return source
        if isinstance(target, BadLineError):
            return target
        return (
            _with_nul(self.source.path, number, source)
            or _with_nul(self.target.path, number, target)
            or Pair(source, target)
        )


def _with_nul(path: Path, number: int, *texts: str) -> BadLineError | None:
    if not any("\0" in text for text in texts):
        return None
    sentence = "there is a NUL character. Is this a UTF-16 or a binary file? Save it as UTF-8 text."
    return BadLineError(path, number, "with a NUL character", sentence)


class _NoPairError(ValueError):
    """What a line of JSON is instead of a pair."""

    def __init__(self, reason: str, sentence: str):
        super().__init__(sentence)
        self.reason = reason


class _RepeatedNameError(ValueError):
    pass


def _once(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(fields)
    if len(found) < len(fields):
        names = [name for name, _ in fields]
        repeated = next(name for name in names if names.count(name) > 1)
        raise _RepeatedNameError(f"the field {repeated!r} appears twice")
    return found


def _parse(line: str) -> dict[str, Any]:
    if not line.strip():
        raise _NoPairError("empty", "expected one JSON object but the line is empty; remove it.")
    try:
        fields = json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        found = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise _NoPairError("not JSON", f"expected one JSON object but found a mistake: {found}.") from error
    if not isinstance(fields, dict):
        raise _NoPairError(
            "without a JSON object", 'expected a JSON object like {"source": "...", "target": "..."}.'
        )
    return fields


def _text(fields: dict[str, Any], name: str) -> str:
    if name not in fields:
        raise _NoPairError("without a field", f"there is no field {name!r}.{did_you_mean(name, fields)}")
    value = fields[name]
    if not isinstance(value, str):
        raise _NoPairError(
            "with a field that is no text",
            f"the field {name!r} must be text in quotes but is {json.dumps(value)[:40]}.",
        )
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise _NoPairError(
            "with half a character",
            f"the field {name!r} has half a character: an escape \\ud800 to \\udfff without its other half.",
        )
    return value
