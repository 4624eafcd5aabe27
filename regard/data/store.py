"""Pairs as ids, prepared once, kept on disk and read through a memory map."""

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.core.batch import Batch, Tokens
from regard.core.errors import UserError
from regard.core.files import sync
from regard.core.pieces import END
from regard.data.filtering import Limits, PairReport
from regard.data.fingerprints import Fingerprint
from regard.data.pairs import Pair
from regard.data.rows import Ids, Rows, RowsWriter, file_names
from regard.text import NO_TAGS, Borrowing, Tags, Tokenizer

_FORMAT = 1
_CHUNK_PAIRS = 10_000
_CHUNK_CHARACTERS = 10_000_000
_DESCRIPTION = "store.json"


Recut = Callable[[Sequence[int]], Sequence[int]]  # ids to ids of the same text, both without the end mark


@dataclass(frozen=True)
class TokenStore:
    """Rows of ids, each with the end mark; the begin mark is never stored."""

    fingerprint: str
    report: PairReport
    sources: Rows
    targets: Rows

    def __len__(self) -> int:
        return len(self.sources)

    def source(self, number: int) -> Ids:
        return self.sources[number]

    def target(self, number: int) -> Ids:
        return self.targets[number]

    @property
    def source_lengths(self) -> NDArray[np.int64]:
        return self.sources.lengths

    @property
    def target_lengths(self) -> NDArray[np.int64]:
        return self.targets.lengths

    def batch(
        self,
        indices: Sequence[int] | NDArray[np.int64],
        *,
        source: Recut | None = None,
        target: Recut | None = None,
    ) -> Batch:
        """These pairs, padded; what is given for a side cuts its rows into other pieces."""
        return Batch(
            Tokens.pad([recut(self.sources[int(index)], source) for index in indices]),
            Tokens.pad([recut(self.targets[int(index)], target) for index in indices]),
        )


def recut(row: Ids, how: Recut | None) -> Ids:
    return row if how is None else np.array([*how(row[:-1].tolist()), END], dtype=np.uint32)


def open_store(
    cache: Path,
    pairs: Callable[[], Iterable[Pair]],
    source: Tokenizer,
    target: Tokenizer,
    limits: Limits,
    tags: Tags = NO_TAGS,
    borrowing: Borrowing | None = None,
) -> TokenStore:
    """The store of these pairs: the one in the cache, or a new one when there is none or it is damaged.

    With a `borrowing`, words that the vocabulary does not know have the ids of their source.

    `pairs` is called once to know the store by its content, and again to build it. Memory does not
    grow with the number of pairs. Several processes may do this at once.
    """
    encoding = _Encoding(source, target, limits, tags, borrowing)
    fingerprint = encoding.fingerprint()
    for pair in pairs():
        fingerprint.add(*pair.texts)
    home = cache / fingerprint.name
    return _opened(home, fingerprint.name) or _built(home, pairs, encoding)


@dataclass(frozen=True)
class _Encoding:
    """How pairs become rows."""

    source: Tokenizer
    target: Tokenizer
    limits: Limits
    tags: Tags
    borrowing: Borrowing | None

    def fingerprint(self) -> Fingerprint:
        """Names a store after all that goes into it: this much before the pairs."""
        found = Fingerprint()
        read = [f"reads {self.limits.read}"] if self.limits.read else []
        borrowed = ["borrows"] if self.borrowing else []
        found.add(f"regard token store {_FORMAT}", str(self.limits.source), str(self.limits.target))
        found.add(self.source.to_json(), self.target.to_json(), *self.tags.names, *read, *borrowed)
        return found

    @property
    def sizes(self) -> tuple[int, int]:
        """Different ids of each side, at the most."""
        more = self.limits.source if self.borrowing else 0
        source = len(self.source) + len(self.tags) + more
        return source, source if self.borrowing else len(self.target)

    def rows(self, pairs: Sequence[Pair]) -> tuple[list[tuple[list[int], list[int]]], PairReport]:
        """Without end marks; and what became of the pairs."""
        full = [pair for pair in pairs if pair.source.strip() and pair.target.strip()]
        sources, targets = [pair.source for pair in full], [pair.target for pair in full]
        whole = self.source.encode_many(sources)
        cut = [len(row) > self.limits.source for row in whole]
        read = [list(self.limits.window(row)) for row in whole]
        if self.borrowing:
            read, said = self.borrowing.sources(sources), self.borrowing.targets(targets, sources)
        else:
            said = self.target.encode_many(targets)
        encoded = [
            ([*self.tags.ids(pair.tags), *row], answer, is_cut)
            for pair, row, answer, is_cut in zip(full, read, said, cut, strict=True)
        ]
        fitting = [one for one in encoded if self.limits.read is not None or not one[2]]
        kept = [one for one in fitting if len(one[1]) <= self.limits.target]
        report = PairReport(
            kept=len(kept),
            empty=len(pairs) - len(full),
            source_too_long=len(encoded) - len(fitting),
            target_too_long=len(fitting) - len(kept),
            cut=sum(is_cut for _, _, is_cut in kept),
        )
        return [(row, answer) for row, answer, _ in kept], report


def _opened(home: Path, name: str) -> TokenStore | None:
    """The store in this folder, or None when it is not there or not whole."""
    try:
        description = json.loads((home / _DESCRIPTION).read_text(encoding="utf-8"))
        if description["bytes"] != _sizes(home):
            return None
        store = TokenStore(
            name, PairReport(**description["report"]), Rows.open(home, "source"), Rows.open(home, "target")
        )
    except (FileNotFoundError, NotADirectoryError, EOFError, ValueError, KeyError, TypeError):
        return None
    return store if len(store.sources) == len(store.targets) == store.report.kept else None


def _sizes(home: Path) -> dict[str, int]:
    return {name: (home / name).stat().st_size for side in ("source", "target") for name in file_names(side)}


def _built(home: Path, pairs: Callable[[], Iterable[Pair]], encoding: _Encoding) -> TokenStore:
    home.parent.mkdir(parents=True, exist_ok=True)
    workshop = home.with_name(f".{home.name}-{secrets.token_hex(6)}")
    workshop.mkdir()
    try:
        fingerprint, limits = encoding.fingerprint(), encoding.limits
        report = _write(workshop, _watched(pairs(), fingerprint), encoding)
        if fingerprint.name != home.name:
            raise UserError(
                "The pairs changed while they were read. Leave their files alone and start again."
            )
        if not report.kept:
            raise UserError(
                f"Nothing is left to work with: {report}; the limits are {limits.source:,} source and "
                f"{limits.target:,} target pieces. Check the files or raise the limits."
            )
        _describe(workshop, report)
        # Opened before it moves: the maps stay good whatever another process does to the folder.
        store = _opened(workshop, home.name)
        assert store is not None, "a store just written is whole"
        _publish(workshop, home)
    except BaseException:
        shutil.rmtree(workshop, ignore_errors=True)
        raise
    return store


def _watched(pairs: Iterable[Pair], fingerprint: Fingerprint) -> Iterator[Pair]:
    for pair in pairs:
        fingerprint.add(*pair.texts)
        yield pair


def _write(folder: Path, pairs: Iterable[Pair], encoding: _Encoding) -> PairReport:
    report = PairReport()
    source, target = encoding.sizes
    with RowsWriter(folder, "source", source) as sources, RowsWriter(folder, "target", target) as targets:
        for chunk in _chunks(pairs):
            rows, found = encoding.rows(chunk)
            sources.append([[*row, END] for row, _ in rows])
            targets.append([[*row, END] for _, row in rows])
            report += found
    return report


def _chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Bounded in pairs and in text, for one pair may be as long as a book."""
    chunk: list[Pair] = []
    characters = 0
    for pair in pairs:
        chunk.append(pair)
        characters += len(pair.source) + len(pair.target)
        if len(chunk) == _CHUNK_PAIRS or characters >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _describe(folder: Path, report: PairReport) -> None:
    description = {"format": _FORMAT, "report": asdict(report), "bytes": _sizes(folder)}
    with (folder / _DESCRIPTION).open("w", encoding="utf-8") as stream:
        json.dump(description, stream, indent=2)
        stream.flush()
        os.fsync(stream.fileno())
    sync(folder)


def _publish(workshop: Path, home: Path) -> None:
    """Give the finished folder its name, unless another process was quicker with the same content."""
    if home.exists() and _opened(home, home.name) is None:
        damaged = workshop.with_name(f"{workshop.name}-damaged")
        with suppress(FileNotFoundError):  # another process may be mending it too
            home.rename(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
    try:
        workshop.rename(home)
    except OSError:
        if not home.exists():
            raise
        shutil.rmtree(workshop, ignore_errors=True)
    sync(home.parent)
