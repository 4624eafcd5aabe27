"""Lines of a text file, exactly as many as its line feeds say."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, cast

from regard.core.errors import UserError
from regard.data.locating import if_missing

LONGEST_LINE = 10_000_000  # bytes
_BLOCK_LINES = 10_000
_BLOCK_BYTES = 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MARKS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class BadLineError(UserError):
    """A line that can't be used, whatever the others are; `reason` is short and the same for its like."""

    def __init__(self, path: Path, number: int, reason: str, sentence: str):
        super().__init__(f"{path}, line {number}: {sentence}")
        self.place = f"{path}, line {number}"
        self.reason = reason
        self._made_of = (path, number, reason, sentence)

    def __reduce__(self) -> tuple[type["BadLineError"], tuple[Path, int, str, str]]:
        return BadLineError, self._made_of  # an exception is sent as what it says, which is not enough here


def read_lines(path: Path, *, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line of a UTF-8 file; a name that ends with `.gz` is unpacked.

    Only a line feed ends a line, alone or after a carriage return. All else that some readers take
    for an end (U+2028, U+0085, form feed, a lone carriage return) is part of the text: two files
    that are parallel must stay parallel.
    """
    for number, line in try_lines(path, longest=longest):
        if isinstance(line, BadLineError):
            raise line
        yield number, line


def try_lines(path: Path, *, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str | BadLineError]]:
    """Like `read_lines`, with what is wrong in the place of a line that can't be read."""
    for block in line_blocks(path, longest=longest):
        yield from block.lines()


@dataclass(frozen=True)
class LineBlock:
    """Some lines of a file as they stand there, for whoever has time to read them."""

    path: Path
    number: int  # of the first
    offset: int  # where it starts
    raw: Sequence[bytes]  # with their ends; only the last may be longer than allowed, and is cut then
    longest: int = LONGEST_LINE

    def lines(self) -> Iterator[tuple[int, str | BadLineError]]:
        offset = self.offset
        for number, raw in enumerate(self.raw, start=self.number):
            if len(raw) > self.longest:
                yield number, self._too_long(number, offset)
            else:
                yield number, _decoded(raw, self.path, number, offset)
            offset += len(raw)

    def _too_long(self, number: int, offset: int) -> BadLineError:
        sentence = (
            f"longer than {self.longest:,} bytes (it starts at byte {offset + 1:,}). "
            "Is this a text file with one example per line? Split or remove this line."
        )
        return BadLineError(self.path, number, "too long", sentence)


def line_blocks(path: Path, *, longest: int = LONGEST_LINE) -> Iterator[LineBlock]:
    """All lines of a file, so many at a time that it pays to hand them over."""
    for (block,) in parallel_blocks([path], longest=longest):
        yield block


def parallel_blocks(paths: Sequence[Path], *, longest: int = LONGEST_LINE) -> Iterator[tuple[LineBlock, ...]]:
    """The same for several files at once, of which each block has as many lines as the others, but for the last."""
    begun: list[list[bytes]] = [[] for _ in paths]
    starts: list[tuple[int, int]] = []
    size = 0

    def ended() -> tuple[LineBlock, ...]:
        return tuple(
            LineBlock(path, *start, lines, longest)
            for path, start, lines in zip(paths, starts, begun, strict=True)
        )

    for number, row in enumerate(zip_longest(*(_raw_lines(path, longest) for path in paths)), start=1):
        if not starts:
            starts = [(number, line[0] if line else 0) for line in row]
        is_cut = False
        for lines, line in zip(begun, row, strict=True):
            if line is not None:
                lines.append(line[1])
                size += len(line[1])
                is_cut = is_cut or len(line[1]) > longest  # offsets would not add up behind it
        if is_cut or size >= _BLOCK_BYTES or len(begun[0]) >= _BLOCK_LINES:
            yield ended()
            begun, starts, size = [[] for _ in paths], [], 0
    if starts:
        yield ended()


def _decoded(raw: bytes, path: Path, number: int, offset: int) -> str | BadLineError:
    body = raw.removesuffix(b"\n")
    if body != raw:
        body = body.removesuffix(b"\r")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        sentence = (
            f"byte {error.start + 1} of the line (0x{body[error.start]:02X}, "
            f"byte {offset + error.start + 1:,} of the text) is not UTF-8. "
            "Save the file as UTF-8, for example with iconv."
        )
        return BadLineError(path, number, "not UTF-8", sentence)


def _raw_lines(path: Path, longest: int) -> Iterator[tuple[int, bytes]]:
    """Where each line starts, and the line with its end; no more than a byte too much of one that is too long."""
    offset, most = 0, longest + 1
    with opened(path) as stream:
        while raw := stream.readline(most):
            start = offset
            offset += len(raw)
            while len(raw) == most and not raw.endswith(b"\n") and (rest := stream.readline(most)):
                offset += len(rest)
                if rest.endswith(b"\n"):
                    break
            if start == 0:
                start, raw = _without_mark(raw, path, longest)
            if raw:  # a file of nothing but the mark has no line
                yield start, raw


def _without_mark(first: bytes, path: Path, longest: int) -> tuple[int, bytes]:
    if first.startswith(_MARKS_OF_UTF16):
        raise UserError(
            f"{path}, line 1: the file is UTF-16, not UTF-8. Save it as UTF-8, for example with "
            "iconv -f UTF-16 -t UTF-8."
        )
    if len(first) > longest:
        return 0, first
    bare = first.removeprefix(_BYTE_ORDER_MARK)
    return len(first) - len(bare), bare


@contextmanager
def opened(path: Path, *, unpacked: bool = True) -> Iterator[BinaryIO]:
    """A file to be read, with what may go wrong on the way said to the person."""
    try:
        with _open(path) if unpacked else path.open("rb") as stream:
            yield stream
    except FileNotFoundError as error:
        raise UserError(f"{path}: there is no such file. {if_missing(path)}") from error
    except IsADirectoryError as error:
        raise UserError(f"{path}: this is a folder. Give a file inside it.") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(
            f"{path}: the gzip file is damaged or cut off ({error}). Copy or download it again; "
            "a file that is not packed must not be called .gz."
        ) from error
    except OSError as error:
        raise UserError(f"{path}: the file cannot be read ({error.strerror or error}).") from error


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")
