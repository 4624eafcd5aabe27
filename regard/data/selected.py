"""Some pairs of files, read as often as asked and never held."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from regard.core.cores import mapped
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.data.cache import cache_folder
from regard.data.fingerprints import fingerprint
from regard.data.pairs import Block, Pair, PairFile
from regard.data.sameness import compared

Change = Callable[[Pair], Pair]
Stamps = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class SelectedBlock:
    """Some rows of a block. It can be sent to another process."""

    block: Block
    chosen: NDArray[np.bool_]  # of each row
    change: Change | None = None

    def pairs(self) -> list[Pair]:
        rows = list(self.block.rows())
        if len(rows) != len(self.chosen):
            raise changed_meanwhile()
        found = [rows[place] for place in np.flatnonzero(self.chosen)]
        pairs = [row for row in found if isinstance(row, Pair)]
        if len(pairs) != len(found):
            raise changed_meanwhile()
        return pairs if self.change is None else list(map(self.change, pairs))


@dataclass(frozen=True, eq=False)
class SelectedPairs:
    """Those rows of all files that are chosen."""

    files: Sequence[PairFile]
    stamps: Stamps  # of the files when they were chosen
    sizes: NDArray[np.int64]  # rows of each block
    chosen: NDArray[np.bool_]  # of each row
    name: str  # the same for the same pairs
    change: Change | None = None  # what becomes of each pair

    def __len__(self) -> int:
        return int(np.count_nonzero(self.chosen))

    def __call__(self) -> Iterator[Pair]:
        for pairs in mapped(SelectedBlock.pairs, self.blocks()):
            yield from pairs

    def blocks(self) -> Iterator[SelectedBlock]:
        """Those in which something is chosen."""
        start = number = 0
        for number, block in enumerate(blocks_of(self.files), start=1):
            if number > len(self.sizes):
                raise changed_meanwhile()
            stop = start + int(self.sizes[number - 1])
            chosen = self.chosen[start:stop]
            if chosen.any():
                yield SelectedBlock(block, chosen, self.change)
            start = stop
        if number != len(self.sizes) or stamps(self.files) != self.stamps:
            raise changed_meanwhile()

    def changed(self, change: Change) -> "SelectedPairs":
        return replace(self, change=change, name=fingerprint([[self.name, repr(change)]]))

    def sample(self, most: int, seed: int) -> "SelectedPairs":
        """At most so many, by chance."""
        if len(self) <= most:
            return self
        places = np.random.default_rng(seed).choice(len(self), most, replace=False)
        chosen = np.zeros_like(self.chosen)
        chosen[np.flatnonzero(self.chosen)[places]] = True
        return replace(self, chosen=chosen, name=fingerprint([[self.name, f"{most} by {seed}"]]))

    def without(self, sources: Iterable[str]) -> "SelectedPairs":
        """Those with other sources, as they are after the change."""
        held = frozenset(map(compared, sources))
        name = fingerprint([[self.name], sorted(held)])
        path = cache_folder() / "selections" / f"{name}.npz"
        if (known := read_arrays(path, name)) is None:
            found = np.concatenate([np.zeros(0, np.bool_), *mapped(_Shares(held), self.blocks())])
            known = {"shared": found}
            write_arrays(path, name, known)
        chosen = self.chosen.copy()
        chosen[np.flatnonzero(chosen)[known["shared"]]] = False
        return replace(self, chosen=chosen, name=name)


@dataclass(frozen=True)
class _Shares:
    sources: frozenset[str]  # as they are compared

    def __call__(self, block: SelectedBlock) -> NDArray[np.bool_]:
        return np.array([compared(pair.source) in self.sources for pair in block.pairs()], dtype=np.bool_)


def sample(
    parts: Sequence[Callable[[], Iterable[Pair]]], most: int, seed: int
) -> list[Callable[[], Iterable[Pair]]]:
    """Of parts that are chosen from files at most so many pairs together, of each by its share; others are whole."""
    total = sum(len(part) for part in parts if isinstance(part, SelectedPairs))
    if total <= most:
        return list(parts)
    return [
        part.sample(max(1, most * len(part) // total), seed) if isinstance(part, SelectedPairs) else part
        for part in parts
    ]


def blocks_of(files: Sequence[PairFile]) -> Iterator[Block]:
    return chain.from_iterable(file.blocks() for file in files)


def stamps(files: Sequence[PairFile]) -> Stamps:
    """What tells that a file was written to. Of one that is not there, nothing: reading it says more."""
    found = []
    for path in (path for file in files for path in file.paths):
        try:
            state = path.stat()
        except OSError:
            continue
        found.append((state.st_size, state.st_mtime_ns))
    return tuple(found)


def changed_meanwhile() -> UserError:
    return UserError("The pairs changed while they were read. Leave their files alone and start again.")


def read_arrays(path: Path, name: str) -> dict[str, Any] | None:
    """What `write_arrays` wrote under this name, or None where it did not or somebody spoilt it."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            found = dict(file)
        return found if json.loads(str(found.pop("name"))) == name else None
    except (OSError, ValueError, KeyError, EOFError, NotImplementedError, BadZipFile, zlib.error):
        return None


def write_arrays(path: Path, name: str, arrays: dict[str, Any]) -> None:
    content = BytesIO()
    np.savez_compressed(content, name=np.array(json.dumps(name)), **arrays)
    write_whole(path, content.getvalue())
