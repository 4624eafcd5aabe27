"""What all encoders and decoders promise is tested over lists of models: nobody is missing there."""

import pytest
from others import OTHERS
from small import MODELS
from torch import nn

from regard import decoders, encoders
from regard.decoders import DECODERS
from regard.encoders import ENCODERS


@pytest.fixture(scope="module")
def kinds() -> set[type[nn.Module]]:
    """Of all parts of all models that the tests of promises run over."""
    made = [*(make() for make in MODELS.values()), *(other() for other in OTHERS.values())]
    return {type(part) for model in made for part in model.modules()}


def test_every_encoder_is_among_them(kinds: set[type[nn.Module]]) -> None:
    exported = {getattr(encoders, name) for name in encoders.__all__ if name.endswith("Encoder")}
    assert {*ENCODERS.values(), *exported} - {encoders.Encoder} <= kinds


def test_every_decoder_is_among_them(kinds: set[type[nn.Module]]) -> None:
    exported = {getattr(decoders, name) for name in decoders.__all__ if name.endswith("Decoder")}
    assert {*DECODERS.values(), *exported} <= kinds
