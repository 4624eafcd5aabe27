"""What a loop costs: training rate of Luong's decoder in one call, and of decoders that go step by step.

    python benchmarks/unrolling.py

Without input feeding no step needs what was seen at another, so a known target is unrolled in one call.
It is compared with the same decoder, same weights, taken step by step, and with input feeding, which
can't be done otherwise. Same sizes and batches, alternating in one process; medians, as ratios.
A step is the whole model forward, its loss, and backward.
"""

import argparse
import sys
import time
from collections.abc import Callable
from statistics import median

import torch
from torch.nn.functional import cross_entropy

from regard import build
from regard.config import load_config
from regard.core.batch import Batch, Tokens
from regard.core.memory import Memory
from regard.models import Seq2Seq

Step = Callable[[], None]


def batch(rows: int, length: int, vocabulary: int) -> Batch:
    source, target = torch.randint(4, vocabulary, (2, rows, length)).unbind(0)
    lengths = torch.full((rows,), length)
    return Batch(Tokens(source, lengths), Tokens(target, lengths))


def at_once(net: Seq2Seq, memory: Memory, target: torch.Tensor) -> torch.Tensor:
    return net.decoder.head(net.decoder.unroll(memory, target).features)  # B T V


def step_by_step(net: Seq2Seq, memory: Memory, target: torch.Tensor) -> torch.Tensor:
    state, logits = net.decoder.begin(memory), []
    for tokens in target.unbind(1):
        output = net.decoder.step(tokens, state)
        state = output.state
        logits.append(output.logits)
    return torch.stack(logits, dim=1)  # B T V


def steps(chosen: argparse.Namespace, width: int) -> dict[str, Step]:
    settings = [
        f"embedding={width}",
        f"encoder={{width={width}, cell='{chosen.cell}'}}",
        f"decoder.width={width}",
        f"decoder.cell={chosen.cell}",
        f"decoder.layers={chosen.layers}",
        "decoder.readout=attentional",
        "attention.score=general",
    ]
    examples = batch(chosen.rows, chosen.length, chosen.vocabulary)

    def make(kind: str, decode: Callable[[Seq2Seq, Memory, torch.Tensor], torch.Tensor]) -> Step:
        changes = [f"model.{setting}" for setting in [*settings, f"decoder.kind={kind}"]]
        net = build.model(
            load_config("dates", changes), {"source": chosen.vocabulary, "target": chosen.vocabulary}
        )

        def step() -> None:
            logits = decode(net, net.encoder.encode(examples.source), examples.target.fed)
            cross_entropy(logits.flatten(0, 1), examples.target.ids.flatten()).backward()
            net.zero_grad()

        return step

    return {
        "in one call": make("step_then_look", at_once),
        "the same, step by step": make("step_then_look", step_by_step),
        "with input feeding": make("step_then_look_fed", at_once),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--widths", type=int, nargs="+", default=[64, 128, 256])
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--length", type=int, default=50)
    parser.add_argument("--vocabulary", type=int, default=1000)
    parser.add_argument("--cell", default="lstm")
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    torch.manual_seed(0)
    sys.stdout.write("| width | decoder | target pieces/s | one call is |\n|--:|---|--:|--:|\n")
    for width in chosen.widths:
        times: dict[str, list[float]] = {}
        ways = steps(chosen, width)
        for _ in range(chosen.rounds):
            for name, step in ways.items():
                started = time.perf_counter()
                step()
                times.setdefault(name, []).append(time.perf_counter() - started)
        fastest = median(times["in one call"])
        for name, taken in times.items():
            rate, ratio = chosen.rows * chosen.length / median(taken), median(taken) / fastest
            sys.stdout.write(f"| {width} | {name} | {rate:,.0f} | {ratio:.1f} times as fast |\n")


if __name__ == "__main__":
    main()
