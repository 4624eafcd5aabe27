"""The recurrent encoder."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.core.batch import Tokens
from regard.core.memory import Memory
from regard.layers import Embedding

NETWORKS = {"gru": nn.GRU, "lstm": nn.LSTM}


class RecurrentEncoder(nn.Module):
    """Reads the source in one or both directions (Bahdanau et al. 2015, section 3.2).

    An annotation is the forward and the backward state at its position side by side. The
    sequences are packed: padding is never read, so it cannot change an answer.
    """

    def __init__(
        self,
        embedding: Embedding,
        *,
        cell: str = "gru",
        width: int = 256,
        layers: int = 1,
        bidirectional: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = embedding
        self.directions = 2 if bidirectional else 1
        self.layers = layers
        self.width = width * self.directions  # of an annotation
        self.network = NETWORKS[cell](
            embedding.width,
            width,
            num_layers=layers,
            bidirectional=bidirectional,
            dropout=dropout if layers > 1 else 0.0,
            batch_first=True,
        )

    def encode(self, source: Tokens) -> Memory:
        vectors = self.embedding(source.ids)  # B S E
        packed = pack_padded_sequence(vectors, source.lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, final = self.network(packed)
        annotations, _ = pad_packed_sequence(outputs, batch_first=True, total_length=source.ids.shape[1])
        return Memory(annotations, source.mask, self._summary(final))

    def _summary(self, final: Tensor | tuple[Tensor, Tensor]) -> Tensor:
        hidden = final[0] if isinstance(final, tuple) else final  # (L directions) B D
        by_layer = hidden.view(self.layers, self.directions, *hidden.shape[1:])  # L directions B D
        return torch.cat(by_layer.unbind(1), dim=-1).transpose(0, 1)  # B L D
