"""Models: an encoder and a decoder put together."""

from regard.models.seq2seq import Seq2Seq

__all__ = ["Seq2Seq"]
