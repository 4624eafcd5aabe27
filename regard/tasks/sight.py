"""What a model is given of a picture: pixels, or what a network that learns nothing more sees in them."""

import hashlib
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from regard.core.batch import Pictures, Vectors
from regard.core.errors import UserError
from regard.data import fingerprint, located
from regard.data.pictures import fitted, picture_url, read_picture
from regard.data.workshop import publish, workshop

log = logging.getLogger("regard")

Seen = NDArray[Any]  # pixels 3 H W of bytes, or features S D

TOGETHER = 16  # pictures that a network sees at once
_FILE, _WHOLE = "seen.npy", "whole"  # the second is written last


@dataclass(frozen=True)
class Sight:
    """Pictures as a model reads them. With a `backbone` that is their features, kept with half precision."""

    name: str  # of all that decides what is seen
    size: int  # pixels a side
    grid: tuple[int, int]
    width: int  # of what stands in a cell
    fit: str = "crop"
    backbone: nn.Module | None = field(default=None, repr=False, compare=False)
    # What is kept of pictures, by the digests of their files.
    places: dict[str, Seen] = field(default_factory=dict, repr=False, compare=False)

    @property
    def cells(self) -> int:
        return self.grid[0] * self.grid[1]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Of what is seen of one picture."""
        return (3, self.size, self.size) if self.backbone is None else (self.cells, self.width)

    def pixels(self, source: str, *, files: bool = True) -> NDArray[np.uint8]:
        """3 H W of one picture; a UserError where it cannot be read."""
        return fitted(read_picture(source, files=files), self.size, self.fit)

    def small(self, source: str, *, files: bool = True) -> str:
        """A data URL of all that is seen of a picture: the same pixels, and seldom as many bytes."""
        picture = read_picture(source, files=files)
        high, wide = picture.shape[:2]
        rows, columns = self.grid
        if high < rows or wide < columns:
            raise UserError(
                f"The picture has {wide} × {high} pixels, but the model looks at {columns} × {rows} places in it. "
                "Give a larger one."
            )
        return picture_url(fitted(picture, self.size, self.fit))

    @torch.inference_mode()
    def see(self, pixels: Sequence[NDArray[np.uint8]]) -> list[Seen]:
        if self.backbone is None:
            return list(pixels)
        found: list[Seen] = []
        for start in range(0, len(pixels), TOGETHER):
            some = torch.from_numpy(np.stack(pixels[start : start + TOGETHER]))
            seen = self.backbone(some).flatten(2).transpose(1, 2)  # B S D
            found += list(seen.to(torch.float16).numpy())
        return found

    def collate(self, seen: Sequence[Seen]) -> Pictures | Vectors:
        if self.backbone is None:
            return Pictures.stack(seen)
        return Vectors.pad(seen)

    def kept(self, cache: Path, sources: Sequence[str]) -> Seen:
        """What is seen of each source, in an array that is mapped from the cache: found once."""
        digests = [self._digest(source) for source in sources]
        home = cache / fingerprint([self._ways, digests])
        shape = (len(sources), *self.shape)
        found = _mapped(home, shape)
        if found is None:
            log.info("Looking at %s pictures, once.", f"{len(sources):,}")
            with workshop(cache) as room:
                self._write(room, sources)
                publish(room, home, lambda there: _mapped(there, shape) is not None)
            found = _mapped(home, shape)
            assert found is not None, home
        self.places.update(zip(digests, found, strict=True))
        return found

    def known(self, source: str) -> tuple[str, Seen] | None:
        """The digest of a picture file, and what is kept of it, if that is so."""
        path = located(source)
        if not self.places or not path.is_file():
            return None
        digest = self._digest(source)
        return (digest, self.places[digest]) if digest in self.places else None

    @property
    def _ways(self) -> list[str]:
        """All that decides what is kept; the name of a network that sees has its size in it."""
        return [self.name, self.fit, *([str(self.size)] if self.backbone is None else [])]

    def _write(self, room: Path, sources: Sequence[str]) -> None:
        """Row by row into a file: of a map, a full disk would not be told but end the process."""
        kind = np.dtype(np.uint8 if self.backbone is None else np.float16)
        shape = (len(sources), *self.shape)
        with (room / _FILE).open("wb") as file:
            header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for start in range(0, len(sources), TOGETHER):
                some = [self.pixels(source) for source in sources[start : start + TOGETHER]]
                file.write(np.stack(self.see(some)).astype(kind, copy=False).tobytes())
            file.flush()
            os.fsync(file.fileno())
        (room / _WHOLE).touch()

    def _digest(self, source: str) -> str:
        """Of the picture that the model would see: a file may change and keep its name."""
        path = located(source)
        if not path.is_file():
            self.pixels(source)  # says what is wrong
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _mapped(home: Path, shape: tuple[int, ...]) -> Seen | None:
    """What was kept there; None where it is not whole."""
    if not (home / _WHOLE).exists():
        return None
    try:
        array: Seen = np.load(home / _FILE, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):  # a disk was full, a file was cut
        return None
    return array if array.shape == shape else None
