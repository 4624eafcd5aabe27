"""Encoders of pictures: what a backbone saw, cell by cell."""

from typing import cast

import torch
from torch import Tensor, nn

from regard.core.batch import Pictures, Vectors
from regard.core.kinds import KINDS
from regard.core.masks import mean
from regard.core.memory import Memory
from regard.layers import Dropout
from regard.layers.backbones import Backbone


class PictureEncoder(nn.Module):
    """Each cell of a backbone's map is an annotation (Xu et al. 2015, section 3.1.1), row by row.

    The backbone learns with the model. With `width` annotations are projected to it; with `positions` each row and
    each column of the grid has a learned vector, which is added.
    """

    def __init__(
        self,
        backbone: nn.Module,
        *,
        width: int | None = None,
        positions: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        kind = cast(Backbone, backbone)
        self.backbone = backbone
        self.cells = Cells(kind.width, grid=kind.grid, width=width, positions=positions, dropout=dropout)
        self.width = self.cells.width
        self.grid = kind.grid

    def encode(self, source: Pictures, wanted: frozenset[str] = KINDS) -> Memory:
        seen: Tensor = self.backbone(source.pixels)  # B D h w
        mask = seen.new_ones(len(seen), seen[0, 0].numel(), dtype=torch.bool)  # B S
        return _memory(self.cells(seen.flatten(2).transpose(1, 2)), mask, wanted)


class FeatureEncoder(nn.Module):
    """The same of features that a backbone found before: `inputs` wide, row by row of a grid."""

    def __init__(
        self,
        inputs: int,
        *,
        grid: tuple[int, int],
        width: int | None = None,
        positions: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.cells = Cells(inputs, grid=grid, width=width, positions=positions, dropout=dropout)
        self.width = self.cells.width
        self.grid = grid

    def encode(self, source: Vectors, wanted: frozenset[str] = KINDS) -> Memory:
        return _memory(self.cells(source.values), source.mask, wanted)


class Cells(nn.Module):
    """From what stands in the cells of a grid to annotations: projected, told their places, dropped out."""

    def __init__(
        self, inputs: int, *, grid: tuple[int, int], width: int | None, positions: bool, dropout: float
    ):
        super().__init__()
        self.width = width or inputs
        self.project = nn.Linear(inputs, width) if width else nn.Identity()
        self.positions = GridPositions(grid, self.width) if positions else None
        self.dropout = Dropout(dropout)

    def forward(self, seen: Tensor) -> Tensor:
        vectors: Tensor = self.project(seen)  # B S D
        if self.positions is not None:
            vectors = vectors + self.positions()
        dropped: Tensor = self.dropout(vectors)
        return dropped


class GridPositions(nn.Module):
    """A learned vector for each row and one for each column; a cell has the sum of its two."""

    def __init__(self, grid: tuple[int, int], width: int):
        super().__init__()
        high, wide = grid
        self.rows = nn.Parameter(torch.empty(high, 1, width))
        self.columns = nn.Parameter(torch.empty(1, wide, width))
        for table in (self.rows, self.columns):
            nn.init.normal_(table, std=width**-0.5)

    def forward(self) -> Tensor:
        return (self.rows + self.columns).flatten(0, 1)  # S D


def _memory(annotations: Tensor, mask: Tensor, wanted: frozenset[str]) -> Memory:
    return Memory(annotations, mask, mean(annotations, mask)[:, None, None], wanted)
