"""Products of few and many rows with a matrix: torch's usual way, and with the matrix laid out for oneDNN.

    python benchmarks/products.py --threads 1

Microseconds of each, the best of several rounds in turn. What is done with it: docs/decisions/products.md.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

from regard.layers.packed import Packed, can_pack

SHAPES = ("256x256", "256x1024", "1024x256", "256x10000")  # numbers in, numbers out
ROWS = (1, 5, 64, 320)
WORK = 1e8  # multiplications in a round, at least


def seconds(ways: Sequence[Callable[[], object]], rounds: int, times: int) -> list[float]:
    """Of each way, the best of its rounds."""
    best = [float("inf")] * len(ways)
    for number in range(rounds + 1):  # the first one warms up
        for place, way in enumerate(ways):
            started = time.perf_counter()
            for _ in range(times):
                way()
            if number:
                best[place] = min(best[place], (time.perf_counter() - started) / times)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=SHAPES, help="numbers in x numbers out")
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    if not can_pack():
        raise SystemExit("This torch was built without oneDNN.")
    torch.set_num_threads(chosen.threads)
    sys.stdout.write("| in x out | rows | usual | laid out | times as fast |\n|---|--:|--:|--:|--:|\n")
    with torch.inference_mode():
        for shape in chosen.shapes:
            inputs, outputs = map(int, shape.split("x"))
            weight, bias = torch.randn(outputs, inputs), torch.randn(outputs)
            packed = Packed(weight, bias)
            for rows in chosen.rows:
                vectors = torch.randn(rows, inputs)
                ways = (
                    lambda x=vectors, w=weight, b=bias: functional.linear(x, w, b),
                    lambda x=vectors, p=packed: p(x),
                )
                times = max(1, int(WORK / (rows * inputs * outputs)))
                usual, laid_out = seconds(ways, chosen.rounds, min(times, 200))
                sys.stdout.write(
                    f"| {shape} | {rows} | {1e6 * usual:,.0f} | {1e6 * laid_out:,.0f} | {usual / laid_out:.2f} |\n"
                )


if __name__ == "__main__":
    main()
