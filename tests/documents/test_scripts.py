"""The scripts that documents point to can be run."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_benchmark_of_unrolling_prints_rates_and_a_ratio() -> None:
    sizes = ["--width", "8", "--rows", "2", "--length", "5", "--vocabulary", "20", "--rounds", "1"]
    printed = run("benchmarks/unrolling.py", *sizes)
    assert printed.count("target pieces/s") == 4
    assert "times as fast" in printed


def test_the_benchmark_of_long_sources_prints_memory_and_shares() -> None:
    sizes = ["--length", "20", "--width", "8", "--layers", "2", "--heads", "2", "--feed-forward", "8"]
    printed = run("benchmarks/long_sources.py", *sizes, "--block", "4")
    assert printed.startswith("length 20, width 8")
    assert printed.count("MiB") == printed.count("of full") == 9


def test_the_experiment_on_the_family_knows_every_score_and_selection() -> None:
    from regard.attention import SCORES, SELECTIONS

    printed = run("experiments/family.py", "--help")
    for name in (*SCORES, *SELECTIONS, "none"):
        assert name in printed or name == "soft"
