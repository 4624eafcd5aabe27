"""Every preset, made small, learns to copy and to reverse strings of up to 20 letters."""

import pytest
import torch
from strings import TASKS, Strings, share_right, train

from regard import build
from regard.config import PRESETS, Config, load_config

WIDTH = 64


def both(*changes: str) -> list[str]:
    """For encoder and decoder."""
    return [f"{side}.{change}" for side in ("encoder", "decoder") for change in changes]


RECURRENT = ["embedding=32", *both(f"width={WIDTH}")]
TWO_LAYERS = [*RECURRENT, *both("layers=2")]
# One vector has to hold the whole string: it gets more room, two letters instead of eight, and more time.
ONE_VECTOR = ["embedding=32", *both("width=128")]
BLOCKS = (f"width={WIDTH}", "layers=2", "heads=4", "feed_forward=128")
TRANSFORMER = [*both(*BLOCKS), "attention.heads=4"]
STREAM = [f"encoder.{change}" for change in BLOCKS]
CHANGES = {
    "sutskever2014": [*ONE_VECTOR, *both("layers=1")],
    "cho2014": [*ONE_VECTOR, "decoder.features=128"],
    "bahdanau2015": [*RECURRENT, f"decoder.features={WIDTH}"],
    "luong2015": TWO_LAYERS,
    "luong2015_dot": TWO_LAYERS,
    "luong2015_local_m": [
        *TWO_LAYERS,
        "attention.radius=20",
    ],  # so that a window that walks along sees its mirror image
    "luong2015_local_p": [*TWO_LAYERS, "attention.radius=20"],
    "gnmt": TWO_LAYERS,
    "transformer_base": TRANSFORMER,
    "transformer_big": TRANSFORMER,
    "transformer_small": TRANSFORMER,
    "transformer_tiny": TRANSFORMER,
    "transformer_d": STREAM,
    "transformer_dmca": [*STREAM, "encoder.layers=3", "encoder.block=5"],
    "convs2s": ["embedding=48", *both("width=48", "layers=3")],
}


def small(preset: str) -> Config:
    changes = [f"model.{change}" for change in ["dropout=0", *CHANGES[preset]]]
    return load_config("dates", [f"model.preset={preset}", *changes])


def distinct() -> list[str]:
    """Presets that differ in their sizes alone are the same when they are made small."""
    models: dict[str, str] = {}
    for preset in PRESETS:
        models.setdefault(small(preset).model.model_dump_json(exclude={"preset"}), preset)
    return list(models.values())


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("preset", distinct())
def test_every_preset_learns_to(task: str, preset: str) -> None:
    one_vector, transformer = preset in ("sutskever2014", "cho2014"), preset.startswith("transformer")
    strings = Strings(task, letters=2 if one_vector else 8, longest=20)
    torch.manual_seed(1)
    net = build.model(
        small(preset), source_vocabulary=strings.vocabulary, target_vocabulary=strings.vocabulary
    )
    predicted = preset.endswith("local_p")  # its window has to be found before it helps
    steps = 1600 if one_vector else 1000 if transformer or predicted else 400
    train(net, strings, steps=steps, rate=0.003 if transformer else 0.005)
    assert share_right(net, strings) >= (0.8 if predicted else 0.9)
