"""Parts that encoders and decoders share."""

from regard.layers.dropout import SequenceDropout
from regard.layers.embedding import Embedding
from regard.layers.linear import Linear
from regard.layers.readout import READOUTS
from regard.layers.recurrent import CELLS, RecurrentLayer, begin_well

__all__ = ["CELLS", "READOUTS", "Embedding", "Linear", "RecurrentLayer", "SequenceDropout", "begin_well"]
