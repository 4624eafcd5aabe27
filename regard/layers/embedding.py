"""Pieces to vectors."""

import torch
from torch import Tensor, nn

from regard.core.pieces import PAD, UNKNOWN


class Embedding(nn.Module):
    """A table of vectors, one for each piece.

    Three ways to make training harder and the model more robust: dropout on what it gives, Gaussian
    `noise` of that standard deviation added to it, and `word_dropout`, which reads a share of the
    pieces as unknown.
    """

    def __init__(
        self,
        vocabulary: int,
        width: int,
        *,
        dropout: float = 0.0,
        noise: float = 0.0,
        word_dropout: float = 0.0,
    ):
        super().__init__()
        self.width = width
        self.vocabulary = vocabulary
        self.noise = noise
        self.word_dropout = word_dropout
        self.table = nn.Embedding(vocabulary, width, padding_idx=PAD)
        nn.init.normal_(self.table.weight, std=width**-0.5)
        with torch.no_grad():
            self.table.weight[PAD].zero_()
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        if self.training and self.word_dropout:
            hidden = torch.rand(ids.shape, device=ids.device) < self.word_dropout
            ids = torch.where(hidden & (ids != PAD), UNKNOWN, ids)
        vectors: Tensor = self.table(ids)  # ... D
        if self.training and self.noise:
            vectors = vectors + self.noise * torch.randn_like(vectors)
        dropped: Tensor = self.dropout(vectors)
        return dropped
