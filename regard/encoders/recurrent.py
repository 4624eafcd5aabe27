"""The recurrent encoder."""

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.core.batch import Sequences
from regard.core.kinds import KINDS
from regard.core.memory import Memory
from regard.layers import Embedding, PointEmbedding, SequenceDropout, begin_well, unrolled

NETWORKS: dict[str, Callable[..., nn.RNNBase]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}

Final = Tensor | tuple[Tensor, ...]  # directions B D, of a layer's last state; for an LSTM, its cell's too
Read = Callable[[nn.RNNBase, Tensor, Tensor], tuple[Tensor, Final]]  # a layer, B S E, lengths B -> B S D


class RecurrentEncoder(nn.Module):
    """Reads the source in one or both directions (Bahdanau et al. 2015, section 3.2).

    An annotation, `width` wide, is the state at its position; where both directions are read, each has
    half of it (`directions` is "one", "both", or "first": both in the lowest layer alone). The
    sequences are packed: padding is never read, so it cannot change an answer.
    Between the layers there may be dropout, layer norm and residual connections (Wu et al. 2016,
    section 3.1). With `reverse` the source is read from its end, and then its end mark (Sutskever et al. 2014,
    section 3.3); annotations still stand in the order of the source.
    """

    def __init__(
        self,
        embedding: Embedding | PointEmbedding,
        *,
        cell: str = "gru",
        width: int = 256,
        layers: int = 1,
        directions: str = "both",
        residual: bool = False,
        layer_norm: bool = False,
        dropout: float = 0.0,
        variational: bool = False,
        reverse: bool = False,
    ):
        super().__init__()
        self.embedding = embedding
        self.width = width
        self.residual = residual
        self.reverse = reverse
        both = [directions == "both" or (directions == "first" and n == 0) for n in range(layers)]
        networks = [
            NETWORKS[cell](
                embedding.width if n == 0 else width,
                width // 2 if two else width,
                bidirectional=two,
                batch_first=True,
            )
            for n, two in enumerate(both)
        ]
        for network in networks:
            begin_well(network, cell)
        self.networks = nn.ModuleList(networks)
        self.norms = nn.ModuleList(nn.LayerNorm(width) if layer_norm else nn.Identity() for _ in both)
        self.between = SequenceDropout(dropout, variational=variational)

    def encode(self, source: Sequences, wanted: frozenset[str] = KINDS, read: Read | None = None) -> Memory:
        """`read` is another way than torch's packed sequences to run a layer over rows of different lengths."""
        read = read or _packed
        order = _from_the_end(source) if self.reverse else None  # B S
        vectors = self.embedding(source.items)  # B S E
        vectors = vectors if order is None else _ordered(vectors, order)
        finals = []
        for number, (network, norm) in enumerate(zip(self.networks, self.norms, strict=True)):
            below = vectors if number == 0 else self.between(vectors)  # B S D
            vectors, final = read(cast(nn.RNNBase, network), below, source.lengths)  # B S D
            vectors = norm(vectors + below if self.residual and number > 0 else vectors)
            finals.append(_state(final))
        if order is not None:
            vectors = _ordered(vectors, order)
        return Memory(vectors, source.mask, torch.stack(finals, dim=1), wanted, pieces=source.pieces)


def _packed(network: nn.RNNBase, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Final]:
    packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
    read = unrolled.read if unrolled.can_read(network, vectors) else nn.RNNBase.__call__
    outputs, final = read(network, packed)
    return pad_packed_sequence(outputs, batch_first=True, total_length=vectors.shape[1])[0], final


def _state(final: Final) -> Tensor:
    """The last state of a layer, B P D: both directions side by side, an LSTM's cell as its second part."""
    parts = final if isinstance(final, tuple) else (final,)  # P times: directions B D
    return torch.stack([torch.cat(part.unbind(0), dim=-1) for part in parts], dim=1)


def _ordered(vectors: Tensor, order: Tensor) -> Tensor:
    """B S D by the positions B S."""
    return vectors.gather(1, order[..., None].expand_as(vectors))


def _from_the_end(source: Sequences) -> Tensor:
    """B S, the position that stands at each place when every row is turned round; end marks and padding stay.

    Were its mark read first, its annotation would be the same for all sources, and a decoder that does not know yet
    where to look is drawn to what never changes and stays there.
    """
    positions = torch.arange(source.items.shape[1], device=source.items.device)  # S
    turned = (source.lengths - source.marked.long())[:, None] - 1 - positions
    return torch.where(turned >= 0, turned, positions)
