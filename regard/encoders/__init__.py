"""Encoders: source -> memory."""

from typing import Protocol

from regard.core.batch import Tokens
from regard.core.memory import Memory
from regard.encoders.recurrent import RecurrentEncoder

ENCODERS = {"recurrent": RecurrentEncoder}


class Encoder(Protocol):
    width: int  # of an annotation

    def encode(self, source: Tokens) -> Memory: ...


__all__ = ["ENCODERS", "Encoder", "RecurrentEncoder"]
