"""What torch.compile is worth here: seconds of a training step with a Transformer's layers compiled, and as they are.

    python benchmarks/compiling.py

The model of a recipe, twice, on made-up batches of several lengths; a step is the whole model forward, its loss, and
backward. Both alternate in one process; medians of processor time. It needs a C++ compiler and a minute to warm up.
"""

import argparse
import sys
import time
from statistics import median

import torch
from precision import RECIPES, batch, seconds

from regard import build
from regard.config import load_config
from regard.core.allocation import keep_freed_memory
from regard.models import Seq2Seq
from regard.training import CrossEntropy

RECIPE = "multi30k-en-de"


def made(settings: list[str], vocabulary: int, *, compiled: bool) -> Seq2Seq:
    torch.manual_seed(1)
    model = build.model(load_config(RECIPE, settings), {"source": vocabulary, "target": vocabulary})
    if compiled:
        for block in (*model.encoder.blocks, *model.decoder.blocks):  # type: ignore[misc]
            block.compile(dynamic=True)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--set", action="append", default=[], help="a setting, such as model.encoder.width=64"
    )
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    rows, source, target, vocabulary = RECIPES[RECIPE]
    examples = [batch(rows, source + more, target + more, vocabulary) for more in (-4, 0, 3)]
    models = {
        name: made(chosen.set, vocabulary, compiled=name == "compiled") for name in ("plain", "compiled")
    }
    objective = CrossEntropy(label_smoothing=0.1)

    def step(model: Seq2Seq) -> float:
        return sum(seconds(model, one, objective, torch.float32) for one in examples)

    began = time.process_time()
    for model in models.values():
        step(model)
    sys.stdout.write(f"warm-up of both: {time.process_time() - began:.0f} s\n")
    found: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(chosen.rounds):
        for name, model in models.items():
            found[name].append(step(model))
    plain, compiled = (median(found[name]) / len(examples) for name in ("plain", "compiled"))
    ratio = median(one / other for one, other in zip(found["plain"], found["compiled"], strict=True))
    sys.stdout.write(
        f"plain {1000 * plain:.0f} ms, compiled {1000 * compiled:.0f} ms: {ratio:.2f} times as fast\n"
    )


if __name__ == "__main__":
    keep_freed_memory()
    main()
