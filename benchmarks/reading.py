"""How fast rows of different lengths are read in training: by torch's packed sequences, and by Regard's own way back.

    python benchmarks/reading.py

There and back through one layer in both directions, rows of 8 to 22 pieces, one thread, in turn; the least
processor time of each.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from regard.layers import unrolled

SHORTEST, LONGEST = 8, 22
Read = Callable[[], None]


def ways(network: nn.RNNBase, rows: int) -> list[Read]:
    lengths = torch.randint(SHORTEST, LONGEST + 1, (rows,))
    lengths[0] = LONGEST
    vectors = torch.randn(rows, LONGEST, network.input_size, requires_grad=True)
    packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)

    def torchs() -> None:
        network(packed)[0].data.sum().backward(retain_graph=True)

    def ours() -> None:
        unrolled.read(network, packed)[0].data.sum().backward(retain_graph=True)

    return [torchs, ours]


def least(reads: Sequence[Read], rounds: int) -> list[float]:
    taken: list[list[float]] = [[] for _ in reads]
    for read in reads:
        read()
    for _ in range(rounds):
        for times, read in zip(taken, reads, strict=True):
            started = time.process_time()
            read()
            times.append(time.process_time() - started)
    return [min(times) for times in taken]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--widths", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument("--rows", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    sys.stdout.write("| cell | width | rows | torch, ms | ours is |\n|---|--:|--:|--:|--:|\n")
    for cell in (nn.LSTM, nn.GRU):
        for width in chosen.widths:
            for rows in chosen.rows:
                network = cell(width, width, bidirectional=True, batch_first=True)
                theirs, ours = least(ways(network, rows), chosen.rounds)
                sys.stdout.write(
                    f"| {cell.__name__} | {width} | {rows} | {1000 * theirs:.1f} | "
                    f"{theirs / ours:.2f} times as fast |\n"
                )


if __name__ == "__main__":
    main()
