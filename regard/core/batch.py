"""Examples side by side, padded to the longest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.core.masks import mask_from_lengths
from regard.core.pieces import BEGIN, END, PAD

UNKNOWN_VALUE = float("nan")  # in a vector: nobody knows it


@dataclass(frozen=True)
class Tokens:
    """A batch of id sequences."""

    ids: Tensor  # B S
    lengths: Tensor  # B

    @property
    def mask(self) -> Tensor:
        return mask_from_lengths(self.lengths, self.ids.shape[1])  # B S

    @property
    def items(self) -> Tensor:
        return self.ids

    @property
    def pieces(self) -> Tensor:
        """B S, for a decoder that can say them."""
        return self.ids

    @property
    def marked(self) -> Tensor:
        """B, whether a row closes with the end mark."""
        return self.ids.gather(1, self.lengths[:, None] - 1).squeeze(1) == END

    @property
    def standing(self) -> Tensor:
        """N, all ids but padding, row by row."""
        return self.ids[self.mask]

    @property
    def fed(self) -> Tensor:
        """B S, what a decoder is fed that should say these: they, moved right by one, with the begin mark first."""
        return torch.nn.functional.pad(self.ids[:, :-1], (1, 0), value=BEGIN)

    def saying(self, standing: Tensor) -> "Tokens":
        """Others (N) in their places."""
        return Tokens(self.ids.masked_scatter(self.mask, standing), self.lengths)

    def to(self, device: torch.device) -> "Tokens":
        return Tokens(self.ids.to(device), self.lengths.to(device))

    @staticmethod
    def pad(rows: Sequence[NDArray[np.integer]] | Sequence[Sequence[int]]) -> "Tokens":
        lengths = torch.tensor([len(row) for row in rows])
        ids = torch.full((len(rows), int(lengths.max())), PAD)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.as_tensor(np.asarray(row, dtype=np.int64))
        return Tokens(ids, lengths)


@dataclass(frozen=True)
class Vectors:
    """A batch of sequences of vectors: points of a series, or what a network saw of a picture.

    Where nobody knows a value, it is not a number; so is all padding.
    """

    values: Tensor  # B S D
    lengths: Tensor  # B

    @property
    def mask(self) -> Tensor:
        return mask_from_lengths(self.lengths, self.values.shape[1])  # B S

    @property
    def items(self) -> Tensor:
        return self.values

    @property
    def pieces(self) -> None:
        """None that could be said."""
        return None

    @property
    def marked(self) -> Tensor:
        """B, whether a row closes with the end mark: vectors have none."""
        return torch.zeros_like(self.lengths, dtype=torch.bool)

    @property
    def standing(self) -> Tensor:
        """N D, all vectors but padding, row by row."""
        return self.values[self.mask]

    @property
    def fed(self) -> Tensor:
        """B S D, what a decoder is fed that should give these: they, moved right by one, with nothing known first."""
        return torch.nn.functional.pad(self.values[:, :-1], (0, 0, 1, 0), value=UNKNOWN_VALUE)

    def saying(self, standing: Tensor) -> "Vectors":
        """Others (N D) in their places."""
        return Vectors(self.values.masked_scatter(self.mask[..., None], standing), self.lengths)

    def to(self, device: torch.device) -> "Vectors":
        return Vectors(self.values.to(device), self.lengths.to(device))

    @staticmethod
    def pad(rows: Sequence[NDArray[np.floating]]) -> "Vectors":
        """Of rows S D, all of one width."""
        lengths = torch.tensor([len(row) for row in rows])
        values = torch.full((len(rows), int(lengths.max()), rows[0].shape[1]), UNKNOWN_VALUE)
        for number, row in enumerate(rows):
            values[number, : len(row)] = torch.as_tensor(np.asarray(row, dtype=np.float32))
        return Vectors(values, lengths)


@dataclass(frozen=True)
class Pictures:
    """A batch of pictures of one size."""

    pixels: Tensor  # B 3 H W, bytes: red, green, blue

    def to(self, device: torch.device) -> "Pictures":
        return Pictures(self.pixels.to(device))

    @staticmethod
    def stack(rows: Sequence[NDArray[np.uint8]]) -> "Pictures":
        """Of pictures 3 H W."""
        return Pictures(torch.from_numpy(np.stack(rows)))


@dataclass(frozen=True)
class Sensed:
    """Series, each with another sequence beside it that helps to go on: its context."""

    series: Vectors
    context: Vectors

    def to(self, device: torch.device) -> "Sensed":
        return Sensed(self.series.to(device), self.context.to(device))


Sequences = Tokens | Vectors
Source = Tokens | Vectors | Pictures | Sensed
Target = Tokens | Vectors


@dataclass(frozen=True)
class Batch:
    """Sources and the targets that belong to them. Target rows of pieces end with the end mark."""

    source: Source
    target: Target
    copies: int = 1  # processes that train on these very rows: each counts a part

    def to(self, device: torch.device) -> "Batch":
        return Batch(self.source.to(device), self.target.to(device), self.copies)
