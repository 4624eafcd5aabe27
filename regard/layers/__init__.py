"""Parts that encoders and decoders share."""

from regard.layers.cells import CELLS, Cell
from regard.layers.embedding import Embedding
from regard.layers.readout import Maxout

__all__ = ["CELLS", "Cell", "Embedding", "Maxout"]
