"""How the cost of preparing pairs grows with their number: of Regard alone, by `benchmarks/preparation.py`."""

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence

from arithmetic import table
from machine import Facts
from measuring import Measured
from teams import HERE, System

SIZES = (125_000, 250_000, 500_000, 1_000_000)  # pairs


def preparation(systems: Sequence[System], chosen: argparse.Namespace, facts: Facts) -> Measured:
    """Reading, filtering, splitting, learning the pieces, encoding; and a second start."""
    if not any(system.name == "regard_itself" for system in systems):
        return Measured({}, "Preparation is told of Regard alone, which was not asked.")
    script = HERE.parent / "preparation.py"
    found = {}
    for size in SIZES:
        command = [sys.executable, str(script), "--pairs", str(size), "--cores", str(chosen.threads)]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        found[size] = [seconds(printed, "all"), seconds(printed, "second start")]
    head = ["Regard, preparing", *(f"{size:,} pairs" for size in SIZES)]
    rows = [
        [name, *(f"{found[size][place]:.1f}" for size in SIZES)]
        for place, name in enumerate(("seconds", "seconds of a second start"))
    ]
    each = ["milliseconds a thousand pairs", *(f"{1e6 * found[size][0] / size:.1f}" for size in SIZES)]
    return Measured(found, table(head, [rows[0], each, rows[1]]))


def seconds(printed: str, stage: str) -> float:
    """Of a stage, in what the script printed."""
    found = re.search(rf"^\| {stage} \| ([\d.]+) \|", printed, re.MULTILINE)
    if found is None:
        raise ValueError(f"no stage {stage!r} in: {printed}")
    return float(found[1])
