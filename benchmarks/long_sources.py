"""How much memory a long source takes in a training step: full look against compressed ones.

    python benchmarks/long_sources.py --source 4000

Once for an encoder alone, once with a target that follows in one stream. Each look is measured in a process of
its own: the highest memory of one pass forward and backward, less that of the process with its model and a short
pass done. `alternating` is local and compressed in turn, as in the preset transformer_dmca.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch

from regard import build
from regard.config import load_config
from regard.core.batch import Batch, Tokens
from regard.core.kinds import KINDS, NOTHING

FORMS = {"an encoder": "transformer_base", "one stream": "transformer_d"}
LOOKS = ("full", "compressed", "alternating")
# What decides how attention is computed: dropout on its weights, and whether somebody wants to see them.
WAYS = {
    "as the presets train (no dropout on weights, nobody wants them: torch's fused kernel)": (0.0, False),
    "with dropout of 0.1 on the weights": (0.1, False),
    "with the weights wanted": (0.0, True),
}
SIZES = {
    "source": 4000,
    "target": 200,
    "width": 256,
    "layers": 5,
    "heads": 4,
    "feed_forward": 1024,
    "block": 256,
    "compression": 3,
}


@dataclass(frozen=True)
class Measured:
    mebibytes: float
    seconds: float


def measure(form: str, look: str, dropout: float, wanted: bool, sizes: Mapping[str, int]) -> Measured:
    """Of one look, in this process."""
    settings = {name: sizes[name] for name in SIZES if name not in ("source", "target")}
    settings |= {"look": look, "attention_dropout": dropout, "scope": "global"}
    changes = [f"model.encoder.{name}={value}" for name, value in settings.items()]
    config = load_config("dates", [f"model.preset={FORMS[form]}", *changes])
    torch.manual_seed(0)
    net = build.model(config, {"source": 1000, "target": 1000}).train()
    kinds = KINDS if wanted else NOTHING

    def step(source: int, target: int) -> None:
        if form == "one stream":
            made = net(Batch(pieces(source), pieces(target)), kinds).features
        else:
            made = net.encoder.encode(pieces(source), kinds).annotations
        made.square().mean().backward()

    step(8, 8)  # loads what torch loads when it is first used, and makes the gradients
    before, started = peak(), time.perf_counter()
    step(sizes["source"], sizes["target"])
    return Measured(peak() - before, time.perf_counter() - started)


def pieces(length: int) -> Tokens:
    return Tokens(torch.randint(4, 1000, (1, length)), torch.tensor([length]))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB


def apart(function: Callable[[], Measured]) -> Measured:
    """In a process of its own, whose highest memory is that of the function alone."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sending.send(function()))
    process.start()
    sending.close()  # here, so that a process that dies is noticed
    found: Measured = receiving.recv()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, size in SIZES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=size)
    sizes = vars(parser.parse_args())
    sys.stdout.write(", ".join(f"{name} {size}" for name, size in sizes.items()) + ", float32\n")
    for form, (way, (dropout, wanted)) in product(FORMS, WAYS.items()):
        sys.stdout.write(f"\n{form}, {way}:\n")
        full = None
        for look in LOOKS:
            found = apart(partial(measure, form, look, dropout, wanted, sizes))
            full = full or max(found.mebibytes, 1)
            sys.stdout.write(
                f"  {look:<12} {found.mebibytes:8,.0f} MiB, {found.mebibytes / full:5.2f} of full; "
                f"{found.seconds:6.1f} s\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
