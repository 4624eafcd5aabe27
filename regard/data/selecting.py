"""Which rows of some files are for training, validation and test: decided once, on all cores, and kept in the cache."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from regard.core.cores import mapped
from regard.core.errors import UserError
from regard.data.cache import cache_folder
from regard.data.filtering import Filters, counted, repeated
from regard.data.fingerprints import fingerprint
from regard.data.lines import opened
from regard.data.pairs import Pair, PairFile, SkippedLines, named, nothing_there
from regard.data.sameness import compared
from regard.data.selected import (
    SelectedPairs,
    blocks_of,
    changed_meanwhile,
    read_arrays,
    stamps,
    write_arrays,
)
from regard.data.sifting import OUT, PASSES, SHARED, Sift, Sifted
from regard.data.splitting import TEST, TRAIN, VALIDATION, split

_FORMAT = 2
_LEFT_OUT = 255  # beside the parts
_ODD = np.uint64(0x9E3779B97F4A7C15)

Side = Literal["source", "target"]


@dataclass(frozen=True)
class Wanted:
    """All that decides what becomes of the pairs of some files."""

    files: Sequence[PairFile]
    filters: Filters
    skip: bool  # lines that are no pairs are counted instead of being an error
    validation: int  # pairs to split off
    test: int
    seed: int
    key: Side  # no two parts share a text of this side
    also: Side | None = None  # nor of this one
    held: Sequence[Pair] = ()  # pairs with which those of the files must not share one either

    @property
    def sides(self) -> list[Side]:
        return [self.key, self.also] if self.also else [self.key]

    def name(self) -> str:
        """The same for the same wishes and the same bytes in the files."""
        files = [[repr(file), str(file), *map(_digest, file.paths)] for file in self.files]
        sizes = [str(number) for number in (_FORMAT, self.validation, self.test, self.seed)]
        wishes = [repr(self.filters), str(self.skip), *sizes, *self.sides]
        return fingerprint([[str(len(files))], *files, wishes, *(pair.sides for pair in self.held)])


@dataclass(frozen=True)
class Selection:
    """What became of the pairs."""

    train: SelectedPairs
    validation: Sequence[Pair] = field(repr=False)
    test: Sequence[Pair] = field(repr=False)
    skipped: str | None  # lines that are no pairs, if there are any
    reports: Sequence[str]  # what was left out


def select(wanted: Wanted) -> Selection:
    """From the cache, if the same was wanted of the same files before."""
    before = stamps(wanted.files)
    name = wanted.name()
    path = cache_folder() / "selections" / f"{name}.npz"
    found = read_arrays(path, name)
    if found is None:
        parts, sizes, notes = _decided(wanted)
        apart = SelectedPairs(wanted.files, before, sizes, _are_held(parts), name)
        texts = [pair.sides for pair in apart()]
        if stamps(wanted.files) != before:
            raise changed_meanwhile()
        found = {"rows": parts, "sizes": sizes, "said": np.array(json.dumps({**notes, "held": texts}))}
        write_arrays(path, name, found)
    rows: NDArray[np.uint8] = found["rows"]
    said = json.loads(str(found["said"]))
    held = [(Pair(*sides), part) for sides, part in zip(said["held"], rows[_are_held(rows)], strict=True)]
    return Selection(
        SelectedPairs(wanted.files, before, found["sizes"], rows == TRAIN, name),
        [pair for pair, part in held if part == VALIDATION],
        [pair for pair, part in held if part == TEST],
        said["skipped"],
        said["reports"],
    )


def _are_held(rows: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.isin(rows, (VALIDATION, TEST))


def _digest(path: Path) -> str:
    found = blake2b(digest_size=16)
    with opened(path, unpacked=False) as file:
        while content := file.read(2**20):
            found.update(content)
    return found.hexdigest()


def _decided(wanted: Wanted) -> tuple[NDArray[np.uint8], NDArray[np.int64], dict[str, object]]:
    """The part that each row goes to, the number of rows in each block, and what is to be said of them."""
    both: tuple[Side, ...] = ("source", "target")
    drawn = both if wanted.filters.duplicates else tuple(wanted.sides)
    held: dict[str, frozenset[str]] = {
        side: frozenset(compared(getattr(pair, side)) for pair in wanted.held)
        for side in wanted.sides
        if wanted.held
    }
    sift = Sift(wanted.filters, wanted.skip, wanted.seed, drawn, held)
    sifted = list(mapped(sift, blocks_of(wanted.files)))
    skipped = sum((one.skipped for one in sifted), SkippedLines())
    if not any(one.any_is_full for one in sifted):
        raise nothing_there(wanted.files, sum(one.pairs for one in sifted), skipped)
    fates, draws = _joined(sifted, drawn)
    left_out = sum((one.left_out for one in sifted), Counter[str]())
    passing = np.flatnonzero(fates != OUT)
    again = _repeated(draws) if wanted.filters.duplicates else np.zeros(len(passing), np.bool_)
    if again.any():
        left_out["that came before"] = int(again.sum())
    reports = []
    if wanted.filters != Filters():
        counts = counted(len(passing) - int(again.sum()), dict(left_out.most_common()))
        if again.all():
            raise UserError(f"No pair passes the filters: {counts}. Ask for less in data.filter.")
        reports.append(f"filters: {counts}")
    shared = int(np.count_nonzero(fates[passing[~again]] == SHARED))
    if shared:
        reports.append(left_out_for_sharing(shared))
    free = ~again & (fates[passing] == PASSES)
    if shared and not free.any():
        raise UserError(
            f"{named(wanted.files)}: no pair is left for training, because validation or test has all of them, too. "
            "Give pairs of their own to each."
        )
    rows = np.full(len(fates), _LEFT_OUT, dtype=np.uint8)
    rows[passing[free]] = split(
        draws[wanted.key][free],
        validation=wanted.validation,
        test=wanted.test,
        also=draws[wanted.also][free] if wanted.also else None,
    )
    said = f"{named(wanted.files)}: {skipped}" if skipped.reasons else None
    sizes = np.array([len(one.fates) for one in sifted], dtype=np.int64)
    return rows, sizes, {"skipped": said, "reports": reports}


def left_out_for_sharing(pairs: int) -> str:
    said = "1 training pair is" if pairs == 1 else f"{pairs:,} training pairs are"
    return f"{said} left out: validation or test has the same."


def _joined(
    sifted: Sequence[Sifted], sides: Sequence[str]
) -> tuple[NDArray[np.uint8], dict[str, NDArray[np.uint64]]]:
    fates = np.concatenate([one.fates for one in sifted])
    return fates, {side: np.concatenate([one.draws[side] for one in sifted]) for side in sides}


def _repeated(draws: dict[str, NDArray[np.uint64]]) -> NDArray[np.bool_]:
    """Which pairs came before: two of ten million are taken for the same in one case of 370,000."""
    return repeated(draws["source"] * _ODD + draws["target"])  # goes round at 2**64, as it may
