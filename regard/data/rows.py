"""Rows of ids on disk: all ids in one flat `.npy` file, and where each row starts in another."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

Ids = NDArray[np.uint16] | NDArray[np.uint32]


def file_names(name: str) -> tuple[str, str]:
    return f"{name}.ids.npy", f"{name}.offsets.npy"


def dtype_for(vocabulary: int) -> DTypeLike:
    return np.uint16 if vocabulary <= 2**16 else np.uint32


@dataclass(frozen=True)
class FlatRows:
    """Rows one behind the other."""

    ids: Ids
    lengths: NDArray[np.int64]

    @staticmethod
    def of(rows: Sequence[Sequence[int]], vocabulary: int) -> "FlatRows":
        ids = np.fromiter(chain.from_iterable(rows), dtype=dtype_for(vocabulary))
        return FlatRows(ids, np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)))


@dataclass(frozen=True)
class Rows:
    """Memory-mapped: what is not looked at is not read."""

    ids: Ids
    offsets: NDArray[np.int64]  # one more than there are rows

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Ids:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    @staticmethod
    def open(folder: Path, name: str) -> "Rows":
        """A `ValueError` or an `OSError` when the files are not what they should be."""
        # A plain view of the map: numpy's own class for maps makes every small slice slow.
        ids, offsets = (
            np.load(folder / file, mmap_mode="r", allow_pickle=False).view(np.ndarray)
            for file in file_names(name)
        )
        if offsets.dtype != np.int64 or ids.dtype not in (np.uint16, np.uint32):
            raise ValueError(f"{folder / name}: unexpected types {ids.dtype}, {offsets.dtype}")
        if ids.ndim != 1 or offsets.ndim != 1 or offsets[0] != 0 or offsets[-1] != len(ids):
            raise ValueError(f"{folder / name}: the ids do not go with the offsets")
        return Rows(ids, offsets)


class RowsWriter:
    """Writes rows chunk by chunk; when it closes, the files are whole and on the disk."""

    def __init__(self, folder: Path, name: str, vocabulary: int) -> None:
        ids, offsets = file_names(name)
        self._ids = _ArrayWriter(folder / ids, dtype_for(vocabulary))
        self._offsets = _ArrayWriter(folder / offsets, np.int64)
        self._offsets.append([0])

    def append(self, rows: FlatRows) -> None:
        ends = self._ids.length + np.cumsum(rows.lengths)
        self._ids.append(rows.ids)
        self._offsets.append(ends)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._ids.finish()
                self._offsets.finish()
        finally:
            self._ids.close()
            self._offsets.close()


class _ArrayWriter:
    """A one-dimensional `.npy` file of a length that is known only at the end."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.length = 0
        self._dtype = np.dtype(dtype)
        self._stream = path.open("wb")
        self._write_header()
        self._header_size = self._stream.tell()

    def append(self, values: Sequence[int] | NDArray[Any]) -> None:
        array = np.asarray(values, dtype=self._dtype)
        self._stream.write(array.tobytes())
        self.length += len(array)

    def finish(self) -> None:
        self._stream.seek(0)
        self._write_header()
        assert self._stream.tell() == self._header_size, "numpy keeps room for a length that grows"
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        self._stream.close()

    def _write_header(self) -> None:
        descr = np.lib.format.dtype_to_descr(self._dtype)
        np.lib.format.write_array_header_1_0(
            self._stream, {"descr": descr, "fortran_order": False, "shape": (self.length,)}
        )
