"""Encoders: source -> memory."""

from typing import Any, Protocol

from regard.core.kinds import KINDS
from regard.core.memory import Memory
from regard.encoders.context import ContextEncoder
from regard.encoders.convolutional import ConvolutionalEncoder
from regard.encoders.pictures import FeatureEncoder, PictureEncoder
from regard.encoders.recurrent import RecurrentEncoder
from regard.encoders.transformer import Refining, TransformerEncoder

ENCODERS = {
    "recurrent": RecurrentEncoder,
    "transformer": TransformerEncoder,
    "convolutional": ConvolutionalEncoder,
    "picture": PictureEncoder,
}


class Encoder(Protocol):
    width: int  # of an annotation

    def encode(self, source: Any, wanted: frozenset[str] = KINDS) -> Memory:
        """Of a `Source` of the kind that it reads.

        `wanted` are the kinds of attention that somebody wants to see; the memory carries the wish on.
        """
        ...


__all__ = [
    "ENCODERS",
    "ContextEncoder",
    "ConvolutionalEncoder",
    "Encoder",
    "FeatureEncoder",
    "PictureEncoder",
    "RecurrentEncoder",
    "Refining",
    "TransformerEncoder",
]
