"""Pieces to vectors."""

import torch
from torch import Tensor, nn

from regard.core.pieces import PAD


class Embedding(nn.Module):
    """A table of vectors, one for each piece, with dropout on what it gives."""

    def __init__(self, vocabulary: int, width: int, *, dropout: float = 0.0):
        super().__init__()
        self.width = width
        self.vocabulary = vocabulary
        self.table = nn.Embedding(vocabulary, width, padding_idx=PAD)
        nn.init.normal_(self.table.weight, std=width**-0.5)
        with torch.no_grad():
            self.table.weight[PAD].zero_()
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        vectors: Tensor = self.dropout(self.table(ids))  # ... D
        return vectors
