"""Encoder + decoder."""

from typing import Any

from torch import Tensor, nn

from regard.core.batch import Batch, Source
from regard.core.kinds import KINDS
from regard.core.state import Decoder, StepOutput, Unrolled
from regard.encoders import Encoder


class Seq2Seq(nn.Module):
    """An encoder and a decoder that fit. It is a stepper, so every search can use it as it is."""

    def __init__(self, encoder: Encoder, decoder: Decoder[Any]):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def begin(self, source: Source, wanted: frozenset[str] = KINDS) -> Any:
        return self.decoder.begin(self.encoder.encode(source, wanted))

    def step(self, tokens: Tensor, state: Any) -> StepOutput[Any]:
        return self.decoder.step(tokens, state)

    def forward(self, batch: Batch, wanted: frozenset[str] = KINDS) -> Unrolled:
        """Teacher forcing: all steps of the given targets."""
        return self.decoder.unroll(self.encoder.encode(batch.source, wanted), batch.target.fed)
