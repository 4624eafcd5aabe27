"""Lines of a text file, exactly as many as its line feeds say."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from regard.core.errors import UserError
from regard.data.locating import if_missing

LONGEST_LINE = 10_000_000  # bytes
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MARKS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class BadLineError(UserError):
    """A line that can't be used, whatever the others are; `reason` is short and the same for its like."""

    def __init__(self, path: Path, number: int, reason: str, sentence: str):
        super().__init__(f"{path}, line {number}: {sentence}")
        self.place = f"{path}, line {number}"
        self.reason = reason


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
    for number, (offset, raw) in enumerate(_raw_lines(path, longest + 1), start=1):
        if number == 1 and raw.startswith(_MARKS_OF_UTF16):
            raise UserError(
                f"{path}, line 1: the file is UTF-16, not UTF-8. Save it as UTF-8, for example with "
                "iconv -f UTF-16 -t UTF-8."
            )
        if len(raw) > longest:
            sentence = (
                f"longer than {longest:,} bytes (it starts at byte {offset + 1:,}). "
                "Is this a text file with one example per line? Split or remove this line."
            )
            yield number, BadLineError(path, number, "too long", sentence)
            continue
        if number == 1 and raw.startswith(_BYTE_ORDER_MARK):
            offset, raw = len(_BYTE_ORDER_MARK), raw.removeprefix(_BYTE_ORDER_MARK)
        if raw:  # a file of nothing but the mark has no line
            yield number, _decoded(raw, path, number, offset)


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


def _raw_lines(path: Path, most: int) -> Iterator[tuple[int, bytes]]:
    """Where each line starts, and the line with its end; at most `most` bytes of one that is longer."""
    offset = 0
    try:
        with _open(path) as stream:
            while raw := stream.readline(most):
                yield offset, raw
                offset += len(raw)
                while len(raw) == most and not raw.endswith(b"\n"):
                    raw = stream.readline(most)
                    offset += len(raw)
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
