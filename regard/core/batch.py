"""Examples side by side, padded to the longest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.core.masks import mask_from_lengths
from regard.core.pieces import BEGIN, PAD


@dataclass(frozen=True)
class Tokens:
    """A batch of id sequences."""

    ids: Tensor  # B S
    lengths: Tensor  # B

    @property
    def mask(self) -> Tensor:
        return mask_from_lengths(self.lengths, self.ids.shape[1])  # B S

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
class Batch:
    """Sources and the targets that belong to them.

    The target rows hold the pieces and the end mark. What the decoder is fed is the same row
    moved right by one, with the begin mark first: `target_input`.
    """

    source: Tokens
    target: Tokens

    @property
    def target_input(self) -> Tensor:
        return torch.nn.functional.pad(self.target.ids[:, :-1], (1, 0), value=BEGIN)  # B T

    def to(self, device: torch.device) -> "Batch":
        return Batch(self.source.to(device), self.target.to(device))
