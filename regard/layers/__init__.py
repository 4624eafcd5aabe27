"""Parts that encoders and decoders share."""

from regard.layers.dropout import SequenceDropout
from regard.layers.embedding import Embedding
from regard.layers.readout import READOUTS
from regard.layers.recurrent import CELLS, RecurrentLayer

__all__ = ["CELLS", "READOUTS", "Embedding", "RecurrentLayer", "SequenceDropout"]
