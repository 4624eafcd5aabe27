"""Regard and its peers in one run: the same data, sizes, threads and tokens, in turn.

    python benchmarks/peers                                 # everything
    python benchmarks/peers --systems regard_itself plain_torch --models tiny --parts training

Environments of the peers are made once, under ~/.cache/regard/bench or $REGARD_BENCH. Needs Multi30k in $REGARD_DATA.
"""

import argparse
import json
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import data
import environments
import machine
import measuring
import preparing
from contract import SHAPES
from teams import System

HERE = Path(__file__).parent
SYSTEMS = tuple(sorted(path.stem for path in (HERE / "systems").glob("*.py")))
OURS = "regard_itself"
FIRST, LAST = "<!-- figures -->", "<!-- end of figures -->"
PARTS = {
    "training": measuring.training,
    "decoding": measuring.decoding,
    "startup": measuring.startup,
    "growth": measuring.growth,
    "preparation": preparing.preparation,
}


def main() -> None:
    chosen = arguments()
    folder = environments.cache()
    path = data.prepare(folder / "data", chosen.batch_tokens, count=measuring.BATCHES)
    measuring.write_models(folder / "data")
    with ExitStack() as open_files:
        log = open_files.enter_context((folder / "log.txt").open("w"))
        systems = [System(name, path, chosen.threads, log) for name in chosen.systems]
        for system in systems:
            _install(system)
            open_files.callback(system.stop)
        if chosen.install:
            return
        facts = machine.facts(chosen.threads)
        told = [f"{datetime.now(UTC):%Y-%m-%d}, {facts.told}."]
        sys.stdout.write(told[0] + "\n\n")
        figures = {}
        for part in chosen.parts:
            found = PARTS[part](systems, chosen, facts)
            figures[part] = found.figures
            told.append(found.told)
            sys.stdout.write(found.told + "\n\n")
            sys.stdout.flush()
            _keep(chosen, told, figures)  # after each part: what comes then may fail


def _keep(chosen: argparse.Namespace, told: list[str], figures: dict[str, Any]) -> None:
    if chosen.into:
        chosen.into.write_text(between_marks(chosen.into.read_text(), "\n\n".join(told)))
    if chosen.output:
        chosen.output.write_text("\n\n".join(told) + "\n")
        chosen.output.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n")


def between_marks(page: str, figures: str) -> str:
    """A page with other figures between its two marks."""
    before, _, rest = page.partition(FIRST)
    _, last, after = rest.partition(LAST)
    if not last:
        raise SystemExit(f"The page has no place for figures: it needs the lines {FIRST} and {LAST}.")
    return f"{before}{FIRST}\n{figures}\n{LAST}{after}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/peers", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--systems", nargs="+", choices=SYSTEMS, default=[OURS, *(n for n in SYSTEMS if n != OURS)]
    )
    parser.add_argument("--models", nargs="+", choices=tuple(SHAPES), default=list(SHAPES), help="to train")
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=4096, help="target pieces in a batch")
    parser.add_argument("--sentences", type=int, default=128, help="to answer in a round")
    parser.add_argument("--output", type=Path, help="a Markdown file; the figures go beside it as JSON")
    parser.add_argument("--into", type=Path, help="a page with marks, between which the figures are written")
    parser.add_argument("--install", action="store_true", help="make the environments and do nothing else")
    return parser.parse_args()


def _install(system: System) -> None:
    environment = system.facts.ENVIRONMENT
    if environments.is_ready(environment):
        return
    sys.stderr.write(f"Installing {environment} (once) ...\n")
    try:
        environments.install(environment)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:]
        system.reason = f"could not be installed: {' '.join(last)}"


if __name__ == "__main__":
    main()
