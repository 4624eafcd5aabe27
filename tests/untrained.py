"""Models that learned nothing, in folders as a training leaves them: what engines make of them is what counts."""

import random
from pathlib import Path

import torch
from safetensors.torch import save_file
from small import WIDTH, _both_sides

from regard import build
from regard.config import load_config
from regard.core.pieces import BEGIN, END, PAD
from regard.core.weights import weights_of
from regard.data import Limits
from regard.run import ModelFolder
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS
from regard.viewing import TextView

LETTERS = "abcdefghijklmnop"
SIZES = (f"both.width={WIDTH}", "both.layers=2", "both.heads=2", f"both.feed_forward={2 * WIDTH}")
SEARCH = ("search.max_length=16", "data.max_source=40", "data.max_target=40")


def transformer_changes(*changes: str) -> list[str]:
    """A small Transformer's settings; `both.` stands for encoder and decoder."""
    model = _both_sides("attention.heads=2", *SIZES, *changes)
    return ["model.preset=transformer_tiny", "text.shared=true", *SEARCH, *model]


def write_model(
    folder: Path,
    changes: list[str],
    *,
    seed: int = 0,
    lively: float = 3.0,
    ending: float = 0.5,
    sure: float = 1.0,
    languages: tuple[str, ...] = (),
) -> Path:
    """With weights so large that its answers differ, as `lively` says; pieces are letters."""
    config = load_config("dates", changes)
    tokenizer = TOKENIZERS["characters"]([LETTERS], vocabulary=len(LETTERS) + 4)
    codec = TextCodec(tokenizer, tokenizer, Limits(source=40, target=40), TextView(), languages=languages)
    torch.manual_seed(seed)
    model = build.model(config, codec.sizes)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("bias") or "norm" in name:
                weight.add_(0.2 * torch.randn_like(weight))  # so that none is forgotten
            elif ".table." not in name and "head" not in name:
                weight.mul_(lively)
        model.decoder.head.weight.mul_(sure)
        model.decoder.head.bias[END] += ending
        model.decoder.head.bias[[PAD, BEGIN]] -= 20  # as if it had learned never to say them
    folder.mkdir(parents=True, exist_ok=True)
    description = ModelFolder(folder)
    description.describe(config, vocabulary=codec.sizes, data={})
    codec.save(folder)
    save_file(weights_of(model), description.weights_path)
    return folder


def sources(count: int, seed: int = 0, longest: int = 38) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices(LETTERS, k=chance.randint(1, longest))) for _ in range(count)]
