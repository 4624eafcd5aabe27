"""Every preset, made small, learns to copy and to reverse strings of up to 20 letters."""

from dataclasses import dataclass, replace

import pytest
import torch
from strings import TASKS, Strings, share_right, train

from regard import build
from regard.config import PRESETS, Config, load_config, of_preset

WIDTH = 64


def both(*changes: str) -> list[str]:
    """For encoder and decoder."""
    return [f"{side}.{change}" for side in ("encoder", "decoder") for change in changes]


@dataclass(frozen=True)
class Small:
    """How a preset is made small, and what it is given to learn with."""

    changes: list[str]
    steps: int = 400
    rate: float = 0.006
    rows: int = 32
    letters: int = 8
    growing: bool = True


RECURRENT = ["embedding=32", *both(f"width={WIDTH}")]
TWO_LAYERS = [*RECURRENT, *both("layers=2")]
NEAR = "attention.radius=20"  # so that a window that walks along sees its mirror image
BLOCKS = (f"width={WIDTH}", "layers=2", "heads=4", "feed_forward=128")
TRANSFORMER = Small([*both(*BLOCKS), "attention.heads=4"], steps=800, rate=0.004)
STREAM = [f"encoder.{change}" for change in BLOCKS]


def one_vector(*changes: str) -> Small:
    """A single vector has to hold the whole string: more room and time for it, and two letters instead of eight."""
    return Small(["embedding=32", *both("width=128"), *changes], steps=1000, rate=0.005, rows=64, letters=2)


SMALL = {
    "sutskever2014": one_vector(*both("layers=1")),
    "cho2014": replace(one_vector("decoder.features=128"), steps=1200),
    "bahdanau2015": Small([*RECURRENT, f"decoder.features={WIDTH}"]),
    "luong2015": Small(TWO_LAYERS),
    "luong2015_dot": Small(
        TWO_LAYERS, steps=500, rate=0.005, rows=64, growing=False
    ),  # short strings tempt it to remember instead of looking
    "luong2015_local_m": Small([*TWO_LAYERS, NEAR]),
    "luong2015_local_p": Small([*TWO_LAYERS, NEAR]),
    "gnmt": Small(TWO_LAYERS),
    "transformer_base": TRANSFORMER,
    "transformer_big": TRANSFORMER,
    "transformer_small": TRANSFORMER,
    "transformer_tiny": TRANSFORMER,
    "transformer_d": Small(STREAM, steps=1000, rate=0.004),
    "transformer_dmca": Small([*STREAM, "encoder.layers=3", "encoder.block=5"], steps=1300, rate=0.004),
    "transformer_dmca_moe": Small(
        [*STREAM, "encoder.layers=3", "encoder.block=5", "encoder.experts=0", "encoder.expert_layers=[]"]
    ),  # experts have a test of their own, and what is left is transformer_dmca
    "transformer_ed": TRANSFORMER,
    "seq2seq_attention": Small([*RECURRENT, *both("cell=gru"), f"decoder.features={WIDTH}", "tie=none"]),
    "convs2s": Small(["embedding=48", *both("width=48", "layers=3")]),
}


def small(preset: str) -> Config:
    changes = [f"model.{change}" for change in ["dropout=0", *SMALL[preset].changes]]
    return load_config("dates", [f"model.preset={preset}", *changes])


def distinct() -> list[str]:
    """Presets that differ in their sizes alone are the same when they are made small."""
    models: dict[str, str] = {}
    for preset in PRESETS:
        if of_preset(preset).task.name == "captions":
            continue  # those of pictures learn beside them
        models.setdefault(small(preset).model.model_dump_json(exclude={"preset"}), preset)
    return list(models.values())


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("preset", distinct())
def test_every_preset_learns_to(task: str, preset: str) -> None:
    how = SMALL[preset]
    strings = Strings(task, letters=how.letters, longest=20, rows=how.rows)
    torch.manual_seed(1)
    net = build.model(small(preset), {"source": strings.vocabulary, "target": strings.vocabulary})
    train(net, strings, steps=how.steps, rate=how.rate, growing=how.growing, enough=0.985)
    assert share_right(net, replace(strings, rows=256)) >= 0.95
