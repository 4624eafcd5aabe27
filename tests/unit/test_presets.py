"""Presets have the sizes of their papers."""

import pytest

from regard import build
from regard.config import PRESETS, Config, load_config
from regard.config.data import Text

VOCABULARY = 37_000  # shared by both languages, as in Vaswani et al. 2017, section 5.1


def parameters(preset: str) -> int:
    return build.parameters(Config(model=PRESETS[preset](), text=Text(shared=True)), vocabulary=VOCABULARY)


def transformer(*, width: int, inner: int, layers: int) -> int:
    matrix = width * width + width
    think = 2 * width * inner + inner + width
    norm = 2 * width
    encoder = 4 * matrix + think + 2 * norm
    decoder = 8 * matrix + think + 3 * norm
    return layers * (encoder + decoder) + VOCABULARY * width + VOCABULARY  # the table, and the output's bias


@pytest.mark.parametrize(
    ("preset", "width", "inner", "layers"),
    [("transformer_base", 512, 2048, 6), ("transformer_big", 1024, 4096, 6)],
)
def test_transformers_have_as_many_parameters_as_their_arithmetic_says(
    preset: str, width: int, inner: int, layers: int
) -> None:
    assert parameters(preset) == transformer(width=width, inner=inner, layers=layers)


@pytest.mark.parametrize(
    ("preset", "width", "inner", "layers"),
    [("transformer_small", 256, 1024, 4), ("transformer_tiny", 128, 256, 4)],
)
def test_pre_norm_has_a_norm_more_on_each_side(preset: str, width: int, inner: int, layers: int) -> None:
    assert parameters(preset) == transformer(width=width, inner=inner, layers=layers) + 2 * 2 * width


@pytest.mark.parametrize(("preset", "millions"), [("transformer_base", 65), ("transformer_big", 213)])
def test_the_papers_own_counts_are_met(preset: str, millions: int) -> None:
    """Table 3 of Vaswani et al. 2017, which rounds and does not say all."""
    assert parameters(preset) / 1e6 == pytest.approx(millions, rel=0.03)


def test_one_stream_has_an_encoders_layers_alone() -> None:
    matrix, think = 512 * 512 + 512, 2 * 512 * 2048 + 2048 + 512
    layers = 6 * (4 * matrix + think + 4 * 512)
    assert parameters("transformer_d") == layers + VOCABULARY * 512 + VOCABULARY


def test_experts_have_as_many_feed_forward_parts_and_a_gate() -> None:
    encoder = PRESETS["transformer_dmca_moe"]().encoder
    think, gate = 2 * 512 * 2048 + 2048 + 512, 512 * encoder.experts
    more = (encoder.experts - 1) * think + gate  # in one layer
    assert parameters("transformer_dmca_moe") == parameters("transformer_dmca") + more


def test_the_recurrent_baseline_is_as_wide_as_the_transformers_it_is_compared_with() -> None:
    """Two directions of half the width, a bridge to both parts of a state, additive attention, a maxout readout."""
    encoder = 2 * 4 * 256 * (512 + 256 + 2)  # two biases for each gate
    decoder = 4 * 512 * (2 * 512 + 512 + 2)
    attention = 512 * 512 + (512 * 512 + 512) + 512
    others = (512 * 1024 + 1024) + (3 * 512 * 1024 + 1024)  # bridge, readout
    tables = 2 * VOCABULARY * 512 + 512 * VOCABULARY + VOCABULARY
    assert parameters("seq2seq_attention") == encoder + attention + decoder + others + tables
    assert parameters("transformer_ed") == parameters("transformer_base")


def test_one_stream_for_long_sources_has_five_layers_of_which_the_even_ones_compress_keys_and_values() -> (
    None
):
    """LMLML in the words of Liu et al. 2018, section 4.2.4: blocks of 256, three neighbours made one."""
    encoder = PRESETS["transformer_dmca"]().encoder
    assert encoder.looks == ["local", "compressed", "local", "compressed", "local"]
    assert (encoder.block, encoder.compression) == (256, 3)
    matrix, think = 512 * 512 + 512, 2 * 512 * 2048 + 2048 + 512
    layers = 5 * (4 * matrix + think + 4 * 512) + 2 * 2 * (3 * 512 * 512 + 512)
    assert parameters("transformer_dmca") == layers + VOCABULARY * 512 + VOCABULARY


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ("features=head", {"source": 1280, "rows": 7, "columns": 7}),
        ("features=middle", {"source": 112, "rows": 14, "columns": 14}),
        ("size=320", {"source": 1280, "rows": 10, "columns": 10}),
    ],
)
def test_what_a_frozen_network_sees_decides_how_much_is_learned_over_it(
    change: str, seen: dict[str, int]
) -> None:
    """Widths of EfficientNet's stages: Tan & Le 2019, table 1; a map is 32 times coarser than the picture, or 16."""
    changes = ["model.preset=xu2015_soft", "model.encoder.positions=true", f"model.encoder.{change}"]
    config = load_config("shapes", changes)
    net = build.model(config, {**seen, "target": 100})
    counted = sum(parameter.numel() for parameter in net.parameters())
    assert build.parameters(config, vocabulary=100) == counted
