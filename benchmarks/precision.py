"""What bfloat16 is worth on this processor: seconds of a training step, beside float32, in one process.

    python benchmarks/precision.py

Models of the recipes' sizes on made-up batches; a step is the whole model forward, its loss, and backward. Both
precisions alternate; medians of processor time, so that other work beside it counts little.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from statistics import median

import torch

from regard import build
from regard.config import load_config
from regard.core.allocation import keep_freed_memory
from regard.core.batch import Batch, Tokens
from regard.models import Seq2Seq
from regard.training import CrossEntropy

RECIPES = {  # rows, source and target pieces, vocabulary
    "pronounce": (250, 8, 7, 50),
    "spanish": (250, 12, 12, 8000),
    "multi30k-en-de": (250, 14, 15, 10_000),
}
KINDS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def batch(rows: int, source: int, target: int, vocabulary: int) -> Batch:
    def some(length: int) -> Tokens:
        return Tokens(torch.randint(4, vocabulary, (rows, length)), torch.full((rows,), length))

    return Batch(some(source), some(target))


def seconds(model: Seq2Seq, examples: Batch, objective: CrossEntropy, kind: torch.dtype) -> float:
    began = time.process_time()
    model.zero_grad()
    with torch.autocast("cpu", kind, enabled=kind != torch.float32):
        loss = objective(model, examples)
    loss.total.backward()  # type: ignore[no-untyped-call]
    return time.process_time() - began


def measured(recipe: str, rounds: int, sizes: Sequence[int], settings: Sequence[str]) -> dict[str, float]:
    torch.manual_seed(1)
    vocabulary = sizes[-1]
    model = build.model(load_config(recipe, list(settings)), {"source": vocabulary, "target": vocabulary})
    examples, objective = batch(*sizes), CrossEntropy(label_smoothing=0.1)
    found: dict[str, list[float]] = {name: [] for name in KINDS}
    for _ in range(rounds + 1):
        for name, kind in KINDS.items():
            found[name].append(seconds(model, examples, objective, kind))
    return {name: median(some[1:]) for name, some in found.items()}  # the first step is slower


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), choices=list(RECIPES))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, help="of a batch, instead of about what the recipes have")
    parser.add_argument(
        "--set", action="append", default=[], help="a setting, such as model.decoder.width=64"
    )
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    for recipe in chosen.recipes:
        rows, *others = RECIPES[recipe]
        found = measured(recipe, chosen.rounds, [chosen.rows or rows, *others], chosen.set)
        told = ", ".join(f"{name} {1000 * value:.0f} ms" for name, value in found.items())
        ratio = found["float32"] / found["bfloat16"]
        sys.stdout.write(f"{recipe:16} {told}: {ratio:.2f} times as fast\n")
        sys.stdout.flush()


if __name__ == "__main__":
    keep_freed_memory()
    main()
