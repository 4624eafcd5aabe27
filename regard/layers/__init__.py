"""Parts that encoders and decoders share."""

from regard.layers.convolution import Convolution, begin_steady, begin_tables, steady_linear, steady_sum
from regard.layers.dropout import Dropout, SequenceDropout
from regard.layers.embedding import Embedding, PlacedEmbedding
from regard.layers.experts import Experts
from regard.layers.feed_forward import ACTIVATIONS, NORMS, FeedForward, Residual, Thought
from regard.layers.heads import Head, Pointer, with_narrow_head
from regard.layers.linear import Linear, pack, round_to_int8
from regard.layers.points import POINT_HEADS, PointEmbedding, PointHead
from regard.layers.positions import POSITIONS, Positions
from regard.layers.readout import READOUTS
from regard.layers.recurrent import CELLS, RecurrentLayer, begin_well

__all__ = [
    "ACTIVATIONS",
    "CELLS",
    "NORMS",
    "POINT_HEADS",
    "POSITIONS",
    "READOUTS",
    "Convolution",
    "Dropout",
    "Embedding",
    "Experts",
    "FeedForward",
    "Head",
    "Linear",
    "PlacedEmbedding",
    "PointEmbedding",
    "PointHead",
    "Pointer",
    "Positions",
    "RecurrentLayer",
    "Residual",
    "SequenceDropout",
    "Thought",
    "begin_steady",
    "begin_tables",
    "begin_well",
    "pack",
    "round_to_int8",
    "steady_linear",
    "steady_sum",
    "with_narrow_head",
]
