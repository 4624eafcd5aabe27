"""Tracks from NumPy's NPZ files."""

import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.core.points import LARGEST, Points
from regard.data.lines import opened
from regard.data.series.tracks import Track

_KNOWN = ("series", "lengths", "context")
_DAMAGED = (  # what reading one raises that is none, that is broken or that wants a password
    ValueError,
    EOFError,
    KeyError,
    RuntimeError,
    MemoryError,
    zlib.error,
    zipfile.BadZipFile,
)


def read_npz(path: Path) -> list[Track]:
    """`series`: N tracks of T points of D values, [N T D].

    Where tracks have different `lengths` [N], `series` is either padded, [N T D], or one track after the other,
    [sum of the lengths, D]. `context` is [N C E]. A missing value is not a number.
    """
    arrays = _arrays(path)
    series = _numbers(arrays["series"], "series", path)
    if "lengths" in arrays:
        tracks = _ragged(series, arrays["lengths"], path)
    elif series.ndim == 3:
        tracks = list(series)
    else:
        raise UserError(
            f"{path}: 'series' has the shape {series.shape}, but must be [tracks, steps, values]. "
            "Tracks of different lengths need 'lengths' beside them."
        )
    if not tracks or 0 in series.shape:
        raise UserError(f"{path}: 'series' is empty.")
    contexts: list[Points] | list[None] = [None] * len(tracks)
    if "context" in arrays:
        context = _numbers(arrays["context"], "context", path)
        if context.ndim != 3 or len(context) != len(tracks) or 0 in context.shape:
            raise UserError(
                f"{path}: 'context' has the shape {context.shape}, but must be [tracks, steps, values] for "
                f"{len(tracks)} tracks."
            )
        contexts = list(context)
    return [
        Track(f"{path.stem} {number}", values, beside)
        for number, (values, beside) in enumerate(zip(tracks, contexts, strict=True), start=1)
    ]


def _arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    with opened(path, unpacked=False) as stream:
        try:
            found = np.load(stream, allow_pickle=False)
            if not isinstance(found, np.lib.npyio.NpzFile):
                raise ValueError("it is one array: write several with numpy.savez")
            arrays = {name: found[name] for name in _KNOWN if name in found}
            names = sorted(found.files)
            if strange := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
                raise ValueError(f"{strange[0]!r} is no array")
        except _DAMAGED as error:
            known = isinstance(error, ValueError) and "pickle" not in str(error)  # which is never the way out
            found_out = f" ({error})" if known else ""
            raise UserError(
                f"{path}: this is no NPZ file of plain numbers, or it is damaged{found_out}."
            ) from error
    if "series" not in arrays:
        raise UserError(f"{path}: there is no array 'series' in it. It has: {', '.join(names) or 'nothing'}.")
    return arrays


def _numbers(array: NDArray[np.generic], name: str, path: Path) -> Points:
    if array.dtype.kind not in "fiu":
        raise UserError(f"{path}: {name!r} holds {array.dtype}, but must hold real numbers.")
    points = array.astype(np.float64)
    if (np.abs(points) > LARGEST).any():
        raise UserError(
            f"{path}: {name!r} has a number beyond {LARGEST:g}. Use a larger unit, or NaN if it is missing."
        )
    return points


def _ragged(series: Points, lengths: NDArray[np.generic], path: Path) -> list[Points]:
    counts = lengths.astype(np.int64) if lengths.dtype.kind in "iu" else np.zeros(1, dtype=np.int64)
    if counts.ndim != 1 or (counts < 1).any():
        raise UserError(f"{path}: 'lengths' must be a list of whole numbers from 1 on.")
    if series.ndim == 3:
        if len(counts) != len(series) or counts.max(initial=0) > series.shape[1]:
            raise UserError(f"{path}: 'lengths' do not go with 'series' of the shape {series.shape}.")
        return [track[:count] for track, count in zip(series, counts, strict=True)]
    if series.ndim != 2 or counts.sum() != len(series):
        raise UserError(
            f"{path}: 'lengths' sum to {counts.sum()}, but 'series' has the shape {series.shape}; one row for "
            "each step is needed."
        )
    return np.split(series, np.cumsum(counts)[:-1])
