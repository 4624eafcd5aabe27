from collections.abc import Callable
from typing import get_args

import pytest

from regard.attention import ALIASES
from regard.config import load_config
from regard.config.parts import Decoder, Encoder
from regard.core.errors import UserError
from regard.decoders import DECODERS
from regard.encoders import ENCODERS

Fails = Callable[..., str]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[model]\nattention.score = 'dot'\nencoder.width = 512\n", ["dot", "decoder.width is 256", "512"]),
        ("[model]\nattention.score = 'rbf'\nencoder.width = 512\n", ["rbf", "the general score"]),
        ("[model.attention]\nscope = 'causal'\n", ["causal", "looks at itself"]),
        ("[model.attention]\nscope = 'window'\n", ["window", "looks at itself"]),
        ("[model.attention]\nscore = 'none'\nheads = 2\n", ["without attention", "nothing for heads"]),
        ("[model.attention]\nscore = 'none'\nselection = 'hard'\n", ["without attention"]),
        ("[model.encoder]\nwidth = 255\n", ["255", "even width"]),
        ("[model]\ndecoder.bridge = 'last'\nencoder.layers = 2\n", ["last bridge", "projection bridge"]),
        (
            "[model]\nattention.score = 'none'\nattention.fixed = 'start'\ndecoder.kind = 'step_look_step'\n",
            ["second step with what it saw", "step_then_look"],
        ),
        ("[model.attention]\nheads = 3\n", ["heads = 3", "256"]),
        ("[model.context]\nattention.score = 'dot'\nencoder.width = 64\n", ["beside the source", "is 64"]),
        ("[model.context]\nattention.heads = 3\n", ["beside the source", "heads = 3"]),
        ("[model.context]\nattention.scope = 'causal'\n", ["beside the source", "looks at itself"]),
        ("[model.context]\nattention.selection = 'hard'\n", ["beside the source", "nearest"]),
        ("[model.context]\nattention.history = true\n", ["beside the source", "history"]),
        ("[model.context]\nattention.pointer = true\n", ["beside the source", "pointer"]),
        ("[model.context]\nencoder.width = 15\n", ["beside the source", "15", "even width"]),
        (
            "[model.context.encoder]\nkind = 'transformer'\nwidth = 15\n",
            ["beside the source", "encoder.heads = 8"],
        ),
        (
            "[model]\ndecoder.kind = 'transformer'\ncontext.attention.score = 'none'\n",
            ["beside the source", "another score than none"],
        ),
        ("[model.encoder]\nkind = 'convolutional'\nkernel = 4\n", ["encoder.kernel is 4", "odd"]),
        ("[model.encoder]\nkind = 'convolutional'\nkernl = 3\n", ["Did you mean 'model.encoder.kernel'?"]),
        (
            "[model.encoder]\nkind = 'convolutional'\npositions = 'rotary'\n",
            ["'rotary'", "learned, sinusoidal"],
        ),
        (
            "[model]\nencoder.kind = 'convolutional'\nattention.score = 'dot'\n",
            ["decoder.width is 256 and embedding is 128", "the general score"],
        ),
        (
            "[model]\ndecoder.kind = 'convolutional'\nattention.score = 'dot'\n",
            ["embedding is 128 and encoder.width is 256", "the general score"],
        ),
        (
            "[model]\ndecoder.kind = 'convolutional'\nattention.heads = 3\n",
            ["heads = 3", "embedding (128) and encoder.width (256)"],
        ),
        (
            "[model]\ndecoder.kind = 'convolutional'\nattention.score = 'none'\n",
            ["convolutional decoder", "another score"],
        ),
        ("[model.encoder]\nkind = 'transformer'\nexperts = 2\nexperts_used = 3\n", ["3", "only 2 experts"]),
        (
            "[model.encoder]\nkind = 'transformer'\nlayers = 2\nexperts = 4\nexpert_layers = [3]\n",
            ["names layer 3", "layers 1 to 2"],
        ),
        ("[model.encoder]\nkind = 'transformer'\nexperts = 1\n", ["experts_used is 2", "only 1 experts"]),
        (
            "[model.encoder]\nkind = 'transformer'\nlook = 'local'\nscope = 'window'\n",
            ["local look", "must be global, not window"],
        ),
        (
            "[model]\npreset = 'transformer_d'\nencoder.look = 'compressed'\n",
            ["compressed look", "must be global, not causal"],
        ),
        (
            "[model]\npreset = 'transformer_dmca'\nencoder.look = 'local'\n",
            ["nothing of its source", "alternating"],
        ),
        (
            "[model]\npreset = 'transformer_dmca'\nencoder.layers = 1\n",
            ["nothing of its source", "two layers"],
        ),
        ("[model.encoder]\nkind = 'transformer'\nlook = 'locally'\n", ["look", "Did you mean 'local'?"]),
        ("[model.encoder]\nkind = 'transformer'\nblock = 0\n", ["model.encoder.block", "0"]),
        (
            "[model.encoder]\nkind = 'transformer'\npositions = 'rotary'\nscore = 'bahdanau'\n",
            ["rotary", "additive", "encoder.score"],
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_was_found(fails: Fails, text: str, words: list[str]) -> None:
    sentence = fails(text)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("model.encoder.kind=transfomer", "'transfomer' is not one of recurrent, transformer"),
        (
            "model.encoder.headz=4",
            "unknown setting 'model.encoder.headz' where model.encoder.kind is 'transformer'",
        ),
        ("model.encoder.heads=3", "encoder.heads = 3 must divide encoder.width (128)"),
        ("model.encoder.score=location", "does not see what it looks at"),
        ("model.attention.score=none", "knows its source by looking at it"),
        ("model.attention.selection=hard", "it is for recurrent and convolutional decoders"),
        ("model.encoder.position_width=128", "must be smaller than encoder.width"),
        ("model.decoder.positions=rotary", "turn pairs of numbers"),
    ],
)
def test_a_transformer_that_makes_no_sense_is_refused_with_the_reason(change: str, sentence: str) -> None:
    heads = ["model.decoder.heads=128"] if "rotary" in change else []
    with pytest.raises(UserError) as caught:
        load_config("dates", ["model.preset=transformer_tiny", *heads, change])
    assert sentence in str(caught.value)


@pytest.mark.parametrize(("alias", "formula"), ALIASES.items())
def test_the_name_of_a_paper_stands_for_its_formula(alias: str, formula: str) -> None:
    assert load_config("dates", [f"model.attention.score={alias}"]).model.attention.score == formula


def test_every_encoder_and_decoder_can_be_chosen() -> None:
    for union, registry in ((Encoder, ENCODERS), (Decoder, DECODERS)):
        members = get_args(get_args(union)[0])
        kinds = [kind for member in members for kind in get_args(member.model_fields["kind"].annotation)]
        assert sorted(kinds) == sorted(registry)
