"""The convolutional encoder."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.core.batch import Sequences
from regard.core.kinds import KINDS
from regard.core.masks import mean
from regard.core.memory import Memory
from regard.layers import Convolution, Dropout, PlacedEmbedding, begin_tables, steady_linear, steady_sum


class ConvolutionalEncoder(nn.Module):
    """Each position sees its neighbours, layer after layer more of them (Gehring et al. 2017, section 3.2).

    A look compares its query with the outputs z (equation 1) and brings home √½·(z + e), e the piece in its
    place (equation 2, scaled as all sums are): z are the annotations, the sums the memory's values. Padding is
    zero before every convolution, as is what lies beyond the ends. Where a convolutional decoder looks in many layers,
    `looks` of them, that many gradients come back; those of z are divided by their number (section 3.4). Of other
    decoders the paper says nothing, and theirs stay as they are.
    """

    def __init__(
        self,
        embedding: PlacedEmbedding,
        *,
        width: int,
        layers: int,
        kernel: int = 3,
        dropout: float = 0.0,
        weight_norm: bool = False,
        looks: int = 1,
    ):
        super().__init__()
        assert kernel % 2 == 1, "as many neighbours before as after"
        begin_tables(embedding)
        self.embedding = embedding
        self.width = embedding.width
        self.side = kernel // 2
        self.looks = looks
        self.dropout = Dropout(dropout)
        self.rise = steady_linear(self.width, width, dropout=dropout, weight_norm=weight_norm)
        self.layers = nn.ModuleList(
            Convolution(width, kernel=kernel, dropout=dropout, weight_norm=weight_norm) for _ in range(layers)
        )
        self.fall = steady_linear(width, self.width, weight_norm=weight_norm)

    def encode(self, source: Sequences, wanted: frozenset[str] = KINDS) -> Memory:
        mask = source.mask  # B S
        standing = torch.arange(mask.shape[1], device=mask.device)[None]  # 1 S
        embedded = self.embedding(source.items, standing)  # B S E
        vectors: Tensor = self.rise(embedded)  # B S D
        for layer in self.layers:
            here = self.dropout(vectors).masked_fill(~mask[..., None], 0.0)
            padded = functional.pad(here, (0, 0, self.side, self.side))  # B (S + k − 1) D
            vectors = steady_sum(vectors, layer(padded))  # B S D
        outputs = self.fall(vectors)  # B S E
        outputs = torch.lerp(outputs.detach(), outputs, 1 / self.looks)  # the same numbers, smaller gradients
        return Memory(
            outputs,
            mask,
            mean(outputs, mask)[:, None, None],  # B 1 1 E
            wanted,
            values=steady_sum(outputs, embedded),
            pieces=source.pieces,
        )
