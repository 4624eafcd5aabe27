"""How much memory a long source takes in a training step of the encoder: full look against compressed ones.

    python benchmarks/long_sources.py --length 4000

Each look is measured in a process of its own: the highest memory of one pass forward and backward, less that of
the process with its model and a short pass done. `alternating` is local and compressed in turn, as in
the preset transformer_dmca.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from itertools import chain

import torch

from regard import build
from regard.config import load_config
from regard.core.batch import Tokens
from regard.core.memory import ENCODER, NOTHING

LOOKS = ("full", "compressed", "alternating")
# What decides how attention is computed: dropout on its weights, and whether somebody wants to see them.
WAYS = {
    "as the presets train (no dropout on weights, nobody wants them: torch's fused kernel)": (0.0, False),
    "with dropout of 0.1 on the weights": (0.1, False),
    "with the weights wanted": (0.0, True),
}
SIZES = {"width": 256, "layers": 5, "heads": 4, "feed-forward": 1024, "block": 256, "compression": 3}


def measure(chosen: argparse.Namespace) -> dict[str, float]:
    """Of one look, in this process: MiB and seconds."""
    settings = {name.replace("-", "_"): getattr(chosen, name.replace("-", "_")) for name in SIZES}
    settings |= {"look": chosen.look, "attention_dropout": chosen.dropout}
    changes = [f"model.encoder.{name}={value}" for name, value in settings.items()]
    config = load_config("dates", ["model.preset=transformer_base", *changes])
    torch.manual_seed(0)
    encoder = build.model(config, source_vocabulary=1000, target_vocabulary=10).encoder.train()
    wanted = frozenset({ENCODER}) if chosen.wanted else NOTHING

    def step(length: int) -> None:
        source = Tokens(torch.randint(4, 1000, (1, length)), torch.tensor([length]))
        memory = encoder.encode(source, wanted)
        memory.annotations.square().mean().backward()

    step(8)  # loads what torch loads when it is first used, and makes the gradients
    before, started = peak(), time.perf_counter()
    step(chosen.length)
    return {"MiB": peak() - before, "seconds": time.perf_counter() - started}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=4000)
    for name, size in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--look", choices=LOOKS, help="measure this one alone, in this process")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--wanted", action="store_true")
    chosen = parser.parse_args()
    if chosen.look:
        sys.stdout.write(json.dumps(measure(chosen)))
        return
    sizes = {"length": chosen.length} | {name: getattr(chosen, name.replace("-", "_")) for name in SIZES}
    sys.stdout.write(", ".join(f"{name} {size}" for name, size in sizes.items()) + ", one source, float32\n")
    same = list(chain.from_iterable((f"--{name}", str(size)) for name, size in sizes.items()))
    for way, (dropout, wanted) in WAYS.items():
        sys.stdout.write(f"\n{way}:\n")
        options = [*same, "--dropout", str(dropout), *(["--wanted"] if wanted else [])]
        found = {}
        for look in LOOKS:
            done = subprocess.run(
                [sys.executable, __file__, "--look", look, *options],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            found[look] = json.loads(done.stdout)
            share = found[look]["MiB"] / max(found["full"]["MiB"], 1)
            sys.stdout.write(
                f"  {look:<12} {found[look]['MiB']:8,.0f} MiB, {share:5.2f} of full; "
                f"{found[look]['seconds']:6.1f} s\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
