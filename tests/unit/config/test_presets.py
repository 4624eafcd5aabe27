from collections.abc import Callable
from pathlib import Path

import pytest

from regard.config import PRESETS, load_config, of_preset
from regard.config.fields import Settings
from regard.config.parts import (
    Attention,
    RecurrentDecoder,
    RecurrentEncoder,
    StreamDecoder,
    TransformerDecoder,
    TransformerEncoder,
)

Fails = Callable[..., str]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_fits_is_described_and_stays_changeable(name: str) -> None:
    assert PRESETS[name].__doc__
    recipe = "shapes" if of_preset(name).task.name == "captions" else "dates"
    config = load_config(recipe, [f"model.preset={name}", "model.dropout=0.4"])
    assert config.model.preset == name
    assert config.model.dropout == 0.4
    whole = PRESETS[name]().model_dump()
    assert config.model.model_dump() == {**whole, "preset": name, "dropout": 0.4}


def test_an_unknown_preset_is_refused_with_the_nearest(fails: Fails) -> None:
    assert "Did you mean 'luong2015'?" in fails("[model]\npreset = 'loung2015'\n")


def test_a_preset_of_a_file_is_laid_under_the_files_settings(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[model]\npreset = 'bahdanau2015'\nencoder.width = 64\ndecoder.width = 32\n")
    model = load_config(path).model
    assert (model.encoder.width, model.decoder.width, model.embedding) == (64, 32, 620)
    assert model.decoder.features == 500
    again = tmp_path / "again.toml"
    again.write_text(load_config(path).to_toml())
    assert load_config(again) == load_config(path)


@pytest.mark.parametrize(
    ("preset", "changes", "expected"),
    [
        ("bahdanau2015", ["encoder.kind=transformer"], {"encoder": TransformerEncoder()}),
        (
            "convs2s",
            ["encoder.layers=2", "encoder.kind=transformer", "encoder.heads=4"],
            {"encoder": TransformerEncoder(layers=2, heads=4)},
        ),
        (
            "transformer_tiny",
            ["tie=none", "decoder.kind=step_then_look", "decoder.cell=lstm"],
            {"attention": Attention(), "decoder": RecurrentDecoder(kind="step_then_look", cell="lstm")},
        ),
        (
            "gnmt",
            ["decoder.kind=transformer", "attention.score=dot"],
            {"attention": Attention(score="dot"), "decoder": TransformerDecoder()},
        ),
        ("transformer_base", ["decoder.kind=stream"], {"attention": Attention(), "decoder": StreamDecoder()}),
    ],
)
def test_another_kind_of_part_starts_from_its_own_defaults(
    preset: str, changes: list[str], expected: dict[str, Settings]
) -> None:
    given = PRESETS[preset]()
    found = load_config("dates", [f"model.preset={preset}", *(f"model.{change}" for change in changes)]).model
    for part in ("encoder", "attention", "decoder"):
        assert getattr(found, part) == expected.get(part, getattr(given, part))


def test_a_kind_with_the_same_settings_keeps_them() -> None:
    found = load_config("dates", ["model.preset=luong2015", "model.decoder.kind=step_then_look"]).model
    given = PRESETS["luong2015"]()
    assert found.decoder == given.decoder.model_copy(update={"kind": "step_then_look"})
    assert (found.encoder, found.attention) == (given.encoder, given.attention)


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("[model.encoder]\ncell = 'lstm'\n", ["kind=transformer", "width=64"], TransformerEncoder(width=64)),
        (
            "[model]\npreset = 'transformer_tiny'\nencoder.heads = 2\n",
            ["kind=recurrent"],
            RecurrentEncoder(),
        ),
        (
            "[model]\npreset = 'transformer_tiny'\nencoder = {kind = 'recurrent', cell = 'lstm'}\n",
            [],
            RecurrentEncoder(cell="lstm"),
        ),
        (
            "[model]\npreset = 'transformer_tiny'\nencoder = {kind = 'recurrent', cell = 'lstm'}\n",
            ["kind=recurrent", "width=64"],
            RecurrentEncoder(cell="lstm", width=64),
        ),
    ],
)
def test_another_kind_of_part_over_a_file_starts_afresh_too(
    text: str, changes: list[str], expected: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "my.toml"
    path.write_text(text)
    assert load_config(path, [f"model.encoder.{change}" for change in changes]).model.encoder == expected


def test_a_kind_that_is_not_there_is_refused_with_the_nearest_over_a_preset_too(fails: Fails) -> None:
    sentence = fails("[model]\npreset = 'gnmt'\n", "model.encoder.kind=transfomer")
    assert "Did you mean 'transformer'?" in sentence
