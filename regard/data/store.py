"""Pairs as ids, prepared once, kept on disk and read through a memory map."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.core.batch import Batch, Tokens
from regard.core.cores import mapped
from regard.core.errors import UserError
from regard.core.files import sync, write_whole
from regard.core.pieces import END
from regard.data.encoding import BlockOfPairs, Encode, HeldBlock
from regard.data.filtering import Limits, PairReport
from regard.data.pairs import Pair
from regard.data.prepared import Batching, Recut
from regard.data.rows import Ids, Rows, RowsWriter, file_names
from regard.data.selected import SelectedPairs, changed_meanwhile
from regard.data.workshop import publish, workshop
from regard.text import NO_TAGS, Borrowing, Tags, TargetTokenizer, Tokenizer

_FORMAT = 1
_CHUNK_PAIRS = 10_000
_CHUNK_CHARACTERS = 10_000_000
_DESCRIPTION = "store.json"


@dataclass(frozen=True)
class TokenStore(Batching):
    """Rows of ids, each with the end mark; the begin mark is never stored."""

    fingerprint: str
    report: PairReport
    sources: Rows
    targets: Rows

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def source_lengths(self) -> NDArray[np.int64]:
        return self.sources.lengths

    @property
    def target_lengths(self) -> NDArray[np.int64]:
        return self.targets.lengths

    def pair(
        self, number: int, *, source: Recut | None = None, target: Recut | None = None
    ) -> tuple[Ids, Ids]:
        return _cut(self.sources[number], source), _cut(self.targets[number], target)

    def collate(self, pairs: Sequence[tuple[Ids, Ids]]) -> Batch:
        sources, targets = zip(*pairs, strict=True)
        return Batch(Tokens.pad(sources), Tokens.pad(targets))


def _cut(row: Ids, how: Recut | None) -> Ids:
    return row if how is None else np.array([*how(row[:-1].tolist()), END], dtype=np.uint32)


def open_store(
    cache: Path,
    pairs: Callable[[], Iterable[Pair]],
    source: Tokenizer,
    target: TargetTokenizer,
    limits: Limits,
    tags: Tags = NO_TAGS,
    borrowing: Borrowing | None = None,
) -> TokenStore:
    """The store of these pairs: the one in the cache, or a new one when there is none or it is damaged.

    With a `borrowing`, words that the vocabulary does not know have the ids of their source.

    Pairs that were selected from files are known by their name. Others are read once to know the store by its
    content, and again to build it. Memory does not grow with the number of pairs. Several processes may do this at
    once.
    """
    encode = Encode(source, target, limits, tags, borrowing)
    if isinstance(pairs, SelectedPairs):
        return _store_of_selected(cache, pairs, encode)
    fingerprint = encode.begun()
    for pair in pairs():
        fingerprint.add(*pair.texts)
    found = _opened(cache / fingerprint.name, fingerprint.name)
    return found or _built(cache, map(HeldBlock, _chunks(pairs())), encode, expected=fingerprint.name)


def _store_of_selected(cache: Path, pairs: SelectedPairs, encode: Encode) -> TokenStore:
    """A small file remembers by what name the store of these pairs goes."""
    key = encode.begun()
    key.add("selected", pairs.name)
    remembered = cache / f"{key.name}.name"
    try:
        name = remembered.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        name = ""
    if re.fullmatch("[0-9a-f]{32}", name) and (found := _opened(cache / name, name)):
        return found
    store = _built(cache, pairs.blocks(), encode)
    write_whole(remembered, store.fingerprint + "\n")
    return store


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


def _built(
    cache: Path, blocks: Iterable[BlockOfPairs], encode: Encode, *, expected: str | None = None
) -> TokenStore:
    with workshop(cache) as room:
        report, name = _write(room, blocks, encode)
        if expected is not None and name != expected:
            raise changed_meanwhile()
        if not report.kept:
            raise UserError(
                f"Nothing is left to work with: {report}; the limits are {encode.limits.source:,} source and "
                f"{encode.limits.target:,} target pieces. Check the files or raise the limits."
            )
        _describe(room, report)
        # Opened before it moves: the maps stay good whatever another process does to the folder.
        store = _opened(room, name)
        assert store is not None, "a store just written is whole"
        publish(room, cache / name, lambda home: _opened(home, home.name) is not None)
    return store


def _write(folder: Path, blocks: Iterable[BlockOfPairs], encode: Encode) -> tuple[PairReport, str]:
    """What became of the pairs, and the name of the store with them."""
    report, fingerprint = PairReport(), encode.begun()
    source_size, target_size = encode.sizes
    with (
        RowsWriter(folder, "source", source_size) as sources,
        RowsWriter(folder, "target", target_size) as targets,
    ):
        for encoded in mapped(encode, blocks):
            sources.append(encoded.sources)
            targets.append(encoded.targets)
            report += encoded.report
            fingerprint.add_framed(encoded.content)
    return report, fingerprint.name


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
