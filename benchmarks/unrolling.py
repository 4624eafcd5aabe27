"""What input feeding costs: training rate of Luong's decoder in one call, and step by step.

    python benchmarks/unrolling.py

Same sizes, same batches, alternating in one process; medians, as a ratio. Target pieces per second.
"""

import argparse
import sys
import time
from statistics import median

import torch

from regard import build
from regard.config import load_config
from regard.core.batch import Batch, Tokens
from regard.training import CrossEntropy

KINDS = {
    "one call (no input feeding)": "step_then_look",
    "step by step (input feeding)": "step_then_look_fed",
}


def batch(rows: int, source: int, target: int, vocabulary: int) -> Batch:
    pieces = torch.randint(4, vocabulary, (rows, source + target))
    lengths = torch.full((rows,), source), torch.full((rows,), target)
    return Batch(Tokens(pieces[:, :source], lengths[0]), Tokens(pieces[:, source:], lengths[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--length", type=int, default=50)
    parser.add_argument("--vocabulary", type=int, default=1000)
    parser.add_argument("--cell", default="lstm")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    torch.manual_seed(0)
    examples = batch(chosen.rows, chosen.length, chosen.length, chosen.vocabulary)
    changes = [
        f"model.embedding={chosen.width}",
        f"model.encoder.width={chosen.width}",
        f"model.decoder.width={chosen.width}",
        f"model.decoder.layers={chosen.layers}",
        f"model.decoder.cell={chosen.cell}",
        f"model.encoder.cell={chosen.cell}",
        "model.decoder.readout=attentional",
        "model.attention.score=general",
    ]
    objective, steps = CrossEntropy(), {}
    for name, kind in KINDS.items():
        config = load_config("dates", [*changes, f"model.decoder.kind={kind}"])
        model = build.model(config, source_vocabulary=chosen.vocabulary, target_vocabulary=chosen.vocabulary)
        memory = model.encoder.encode(examples.source)  # the encoders are the same: only decoders are timed
        frozen = type(memory)(memory.annotations.detach(), memory.mask, memory.summary.detach())

        def step(model: torch.nn.Module = model, memory: object = frozen) -> None:
            features = model.decoder.unroll(memory, examples.target_input).features
            logits = model.decoder.head(features)
            torch.nn.functional.cross_entropy(logits.flatten(0, 1), examples.target.ids.flatten()).backward()
            model.zero_grad()

        def whole(model: torch.nn.Module = model) -> None:
            objective(model, examples).total.backward()
            model.zero_grad()

        steps[name] = {"decoder": step, "whole model": whole}
    for part in ("decoder", "whole model"):
        times: dict[str, list[float]] = {name: [] for name in KINDS}
        for _ in range(chosen.rounds):
            for name in KINDS:
                started = time.perf_counter()
                steps[name][part]()
                times[name].append(time.perf_counter() - started)
        rates = {name: chosen.rows * chosen.length / median(times[name]) for name in KINDS}
        for name, rate in rates.items():
            sys.stdout.write(f"{part}, {name}: {rate:,.0f} target pieces/s\n")
        fast, slow = rates.values()
        sys.stdout.write(f"{part}: {fast / slow:.1f} times as fast\n")


if __name__ == "__main__":
    main()
