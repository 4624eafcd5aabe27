"""What processes spend on each other: torchrun --nproc-per-node 2 benchmarks/ranks.py

Prints the median time of one small sum, and of adding up the gradients of models with so many parameters.
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import nn

from regard.training import joined


def milliseconds(work: Callable[[], object], times: int) -> float:
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        spent.append(1000 * (time.perf_counter() - started))
    return median(spent)


def main() -> None:
    with joined() as ranks:
        figures = {"a small sum": milliseconds(lambda: ranks.sum(1.0), 200)}
        for width in (500, 1000, 2000):
            weights = [nn.Parameter(torch.zeros(width, width)) for _ in range(4)]
            for one in weights:
                one.grad = torch.ones_like(one)
            figures[f"gradients of {4 * width**2:,} parameters"] = milliseconds(
                lambda weights=weights: ranks.add_up(weights), 10
            )
    if ranks.is_first:
        for name, figure in figures.items():
            sys.stdout.write(f"{name}: {figure:.2f} ms with {ranks.count} processes\n")


if __name__ == "__main__":
    main()
