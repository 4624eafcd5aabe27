"""Decoders: memory + prefix -> next step."""

from regard.decoders.recurrent import RecurrentDecoder

DECODERS = {"recurrent": RecurrentDecoder}

__all__ = ["DECODERS", "RecurrentDecoder"]
