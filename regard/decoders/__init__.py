"""Decoders: memory + prefix -> next step."""

from regard.decoders.bridges import BRIDGES
from regard.decoders.convolutional import ConvolutionalDecoder
from regard.decoders.recurrent import LookThenStep, StepLookStep, StepThenLook, StepThenLookFed
from regard.decoders.stack import ASKING, Stack
from regard.decoders.transformer import StreamDecoder, TransformerDecoder

DECODERS = {
    "look_then_step": LookThenStep,
    "step_look_step": StepLookStep,
    "step_then_look": StepThenLook,
    "step_then_look_fed": StepThenLookFed,
    "transformer": TransformerDecoder,
    "stream": StreamDecoder,
    "convolutional": ConvolutionalDecoder,
}

__all__ = [
    "ASKING",
    "BRIDGES",
    "DECODERS",
    "ConvolutionalDecoder",
    "LookThenStep",
    "Stack",
    "StepLookStep",
    "StepThenLook",
    "StepThenLookFed",
    "StreamDecoder",
    "TransformerDecoder",
]
