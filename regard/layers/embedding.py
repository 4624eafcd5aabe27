"""Pieces to vectors."""

import torch
from torch import Tensor, nn

from regard.core.pieces import END, PAD, UNKNOWN
from regard.layers.dropout import Dropout
from regard.layers.points import PointEmbedding
from regard.layers.positions import Positions


class Embedding(nn.Module):
    """A table of vectors, one for each piece.

    Three ways to make training harder and the model more robust: dropout on what it gives, Gaussian
    `noise` of that standard deviation added to it, and `word_dropout`, which reads a share of the
    pieces as unknown. It spares marks, and the first pieces of a row where so many of them can be `tags`.
    With `scale` the vectors are multiplied by √D (Vaswani et al. 2017, section 3.4): the table starts with
    vectors of length one, so that it can also be the matrix of an output layer.

    An id beyond the table, of a source word that has it for this source alone, is read as unknown.
    """

    def __init__(
        self,
        vocabulary: int,
        width: int,
        *,
        dropout: float = 0.0,
        noise: float = 0.0,
        word_dropout: float = 0.0,
        tags: int = 0,
        scale: bool = False,
    ):
        super().__init__()
        self.width = width
        self.vocabulary = vocabulary
        self.noise = noise
        self.word_dropout = word_dropout
        self.tags = tags
        self.scale = width**0.5 if scale else 1.0
        self.table = nn.Embedding(vocabulary, width, padding_idx=PAD)
        nn.init.normal_(self.table.weight, std=width**-0.5)
        with torch.no_grad():
            self.table.weight[PAD].zero_()
        self.dropout = Dropout(dropout)

    def standing(self, ids: Tensor) -> Tensor:
        """Where something stands that can be looked at."""
        return ids != PAD

    def forward(self, ids: Tensor) -> Tensor:
        ids = torch.where(ids < self.vocabulary, ids, UNKNOWN)
        if self.training and self.word_dropout:
            hidden = (torch.rand(ids.shape, device=ids.device) < self.word_dropout) & (ids > END)
            hidden[..., : self.tags] = False
            ids = torch.where(hidden, UNKNOWN, ids)
        vectors: Tensor = self.table(ids)  # ... D
        vectors = vectors * self.scale if self.scale != 1 else vectors
        if self.training and self.noise:
            vectors = vectors + self.noise * torch.randn_like(vectors)
        dropped: Tensor = self.dropout(vectors)
        return dropped


class PlacedEmbedding(nn.Module):
    """Pieces, or points, to vectors that know where they stand: the place is added, or stands beside it.

    The places' vectors are multiplied by `place_scale`.
    """

    def __init__(
        self,
        pieces: Embedding | PointEmbedding,
        positions: Positions,
        *,
        beside: int = 0,
        dropout: float = 0.0,
        place_scale: float = 1.0,
    ):
        super().__init__()
        self.pieces = pieces
        self.positions = positions
        self.width = pieces.width + beside
        self.beside = beside > 0
        self.place_scale = place_scale
        self.dropout = Dropout(dropout)

    def standing(self, items: Tensor) -> Tensor:
        """B T, where something stands that can be looked at."""
        return self.pieces.standing(items)

    def forward(self, items: Tensor, places: Tensor) -> Tensor:
        """B T pieces or B T S points, B T or 1 T -> B T D."""
        vectors: Tensor = self.pieces(items)
        where = self.positions.vectors(places)
        where = where * self.place_scale if where is not None and self.place_scale != 1 else where
        if where is not None and self.beside:
            vectors = torch.cat([vectors, where.expand(*vectors.shape[:-1], -1)], dim=-1)
        elif where is not None:
            vectors = vectors + where
        dropped: Tensor = self.dropout(vectors)
        return dropped
