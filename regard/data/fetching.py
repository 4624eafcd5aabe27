"""Public data sets from the network into the folder of data. Nothing else in Regard opens a connection."""

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.data.sets import DataSet, Part

RECORD = "SHA256SUMS"  # beside the files, as the program sha256sum writes and checks it
MOST = 500_000_000  # bytes, packed and unpacked: what is longer is not what was asked for
_CHUNK = 1 << 16
_SECONDS = 30  # of silence before a connection is given up

Progress = Callable[[str, int, int | None], None]  # address, bytes so far, bytes in all where that is known


@dataclass(frozen=True)
class Kept:
    """A file that is in its place now."""

    part: Part
    fetched: bool  # else it was there before
    vouched: bool  # its checksum was known beforehand

    def __str__(self) -> str:
        checked = "as published" if self.part.sha256 else "as it was when it first came"
        trust = checked if self.vouched else "no checksum is published"
        if not self.fetched:
            return f"{self.part.name}: was here already ({trust})"
        return f"{self.part.name}: fetched ({trust if self.vouched else f'{trust}: recorded in {RECORD}'})"


def missing(data_set: DataSet, folder: Path) -> list[Part]:
    return [part for part in data_set.parts if not (folder / part.name).exists()]


def fetch(
    data_set: DataSet, folder: Path, progress: Progress = lambda address, done, total: None
) -> Iterator[Kept]:
    """Brings what is missing into the folder; what is there stays as it is, and is checked.

    A file comes whole, unpacked and checked, or not at all. One without a published checksum is trusted when it
    first comes and recorded: it has to be the same ever after.
    """
    record = _read_record(folder)
    absent = missing(data_set, folder)
    for part in data_set.parts:
        if part not in absent:
            known = part.sha256 or record.get(part.name)
            _check_present(part, folder / part.name, known)
            yield Kept(part, fetched=False, vouched=known is not None)
    for address in dict.fromkeys(part.url for part in absent):
        packed = _download(address, folder, absent, progress)
        for part in [part for part in absent if part.url == address]:
            known = part.sha256 or record.get(part.name)
            content = _unpacked(packed, part)
            _check(part, content, known)
            write_whole(folder / part.name, content)
            record[part.name] = sha256(content).hexdigest()
            write_whole(folder / RECORD, "".join(f"{found}  {name}\n" for name, found in record.items()))
            yield Kept(part, fetched=True, vouched=known is not None)


def _download(address: str, folder: Path, absent: list[Part], progress: Progress) -> bytes:
    try:
        with urlopen(Request(address, headers={"User-Agent": "regard"}), timeout=_SECONDS) as answer:
            length = answer.headers.get("Content-Length")
            total = int(length) if length and length.isdigit() else None
            content = bytearray()
            while chunk := answer.read(_CHUNK):
                content += chunk
                progress(address, len(content), total)
                if len(content) > MOST:
                    raise HTTPException(f"it is longer than {MOST:,} bytes")
        if total is not None and len(content) != total:
            raise HTTPException(f"it broke off after {len(content):,} of {total:,} bytes")
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the connection
        names = ", ".join(part.name for part in absent)
        raise UserError(
            f"{address} could not be fetched ({_reason(error)}): try again, or put the unpacked files by hand into "
            f"{folder}: {names}."
        ) from error
    return bytes(content)


def _reason(error: OSError | HTTPException) -> str:
    if isinstance(error, HTTPError):
        return f"the server answered {error.code} {error.reason}"
    cause = getattr(error, "reason", error)  # urllib wraps what went wrong
    return str(getattr(cause, "strerror", None) or cause or type(cause).__name__)


def _unpacked(packed: bytes, part: Part) -> bytes:
    try:
        if part.member is not None:
            with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open(part.member) as member:
                content = member.read(
                    MOST + 1
                )  # by its name alone: no path of the archive is ever written to
        elif part.url.endswith(".gz"):
            with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
                content = file.read(MOST + 1)
        else:
            content = packed
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        raise UserError(
            f"{part.url}: what came cannot be unpacked to {part.name} ({error}). Nothing of it was kept."
        ) from error
    if len(content) > MOST:
        raise UserError(f"{part.url}: what came unpacks to more than {MOST:,} bytes. Nothing of it was kept.")
    return content


def _check(part: Part, content: bytes, known: str | None) -> None:
    found = sha256(content).hexdigest()
    if known is not None and found != known:
        raise UserError(
            f"{part.url}: what came is not {_described(part)}: its SHA-256 is {found}, not {known}. "
            "Nothing of it was kept."
        )
    lines = _lines(content)
    if part.lines is not None and lines != part.lines:
        raise UserError(
            f"{part.url}: what came has {lines:,} lines, not {part.lines:,}. Nothing of it was kept."
        )


def _check_present(part: Part, path: Path, known: str | None) -> None:
    content = path.read_bytes()
    if known is not None and sha256(content).hexdigest() != known:
        raise UserError(
            f"{path} is not {_described(part)}: its SHA-256 differs. Remove it, and it will be fetched anew."
        )
    lines = _lines(content)
    if part.lines is not None and lines != part.lines:
        raise UserError(
            f"{path} is not the file that was published: it has {lines:,} lines, not {part.lines:,}. Remove it, and "
            "it will be fetched anew."
        )


def _lines(content: bytes) -> int:
    """The last one may lack its line feed."""
    return content.count(b"\n") + (bool(content) and not content.endswith(b"\n"))


def _described(part: Part) -> str:
    return "the file that was published" if part.sha256 else f"the file that first came (see {RECORD})"


def _read_record(folder: Path) -> dict[str, str]:
    path = folder / RECORD
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    found = [re.fullmatch(r"([0-9a-f]{64})  (.+)", line) for line in lines]
    return {match[2]: match[1] for match in found if match}
