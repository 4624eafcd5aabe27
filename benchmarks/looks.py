"""A look of all at all in training, there and back: torch's fused kernel, and small products.

    python benchmarks/looks.py --threads 2

Milliseconds of each, the best of several rounds in turn, for about so many places in all.
What is done with it: docs/decisions/products.md.
"""

import argparse
import sys

import torch
from products import seconds
from torch import Tensor
from torch.nn import functional

from regard.attention import short
from regard.attention.scores import merge_heads, split_heads
from regard.attention.slots import Allowed

LENGTHS = (8, 16, 24, 32, 48, 64, 96, 128)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", nargs="+", type=int, default=LENGTHS)
    parser.add_argument("--places", type=int, default=4096)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--width", type=int, default=128, help="of all heads together")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    sys.stdout.write("| places | fused | short | times as fast |\n|---|--:|--:|--:|\n")
    for length in chosen.lengths:
        rows = max(1, chosen.places // length)
        vectors = torch.randn(rows, length, 3 * chosen.width, requires_grad=True)
        gradient = torch.randn(rows, length, chosen.width)
        mask = torch.ones(rows, 1, 1, length, dtype=torch.bool)

        def parts(vectors: Tensor = vectors) -> list[Tensor]:
            return [split_heads(one, chosen.heads) for one in vectors.chunk(3, dim=-1)]

        def fused(mask: Tensor = mask, gradient: Tensor = gradient) -> None:
            context = functional.scaled_dot_product_attention(*parts(), attn_mask=mask, scale=1.0)
            merge_heads(context).backward(gradient)

        def small(mask: Tensor = mask, gradient: Tensor = gradient) -> None:
            merge_heads(short.look(*parts(), Allowed(mask))).backward(gradient)

        slow, fast = seconds([fused, small], chosen.rounds, 5)
        sys.stdout.write(f"| {length} | {slow * 1e3:.2f} | {fast * 1e3:.2f} | {slow / fast:.2f} |\n")


if __name__ == "__main__":
    main()
