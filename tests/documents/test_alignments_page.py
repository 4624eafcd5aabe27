"""What the page shows is run, and comes out as it says."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent.parent / "docs/alignments.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    every = re.findall(r"```(\w*)\n(.*?)```", PAGE, flags=re.DOTALL)
    return [block for name, block in every if name == language]


def run(*words: str, folder: Path, stdin: str = "") -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page was followed up to its training."""
    folder = tmp_path_factory.mktemp("alignments")
    run("-c", blocks("python")[0], folder=folder)
    (folder / "numbers.toml").write_text(blocks("toml")[0])
    train = blocks("console")[0].splitlines()[0]
    run("-m", *train.split(), folder=folder)
    return folder


def test_attention_aligns_words_as_the_page_says(home: Path) -> None:
    table = run("-m", *blocks("console")[0].splitlines()[1].split(), folder=home)
    scores = json.loads((home / "runs/numbers/scores.json").read_text())["test"]
    assert scores["alignment_error_rate"]["value"] < 10
    assert scores["alignment_precision"]["value"] > 90
    assert scores["alignment_recall"]["value"] > 90
    (shown,) = blocks("")
    assert shown.splitlines()[0].split() == ["alignment", "error_rate", "precision", "recall"]
    assert shown.splitlines()[0] in [line.rstrip() for line in table.splitlines()]
    assert shown.splitlines()[-1].partition("|version")[0] in table


def test_the_other_command_of_the_page_runs(home: Path) -> None:
    assert "by:threshold-0.4|" in run("-m", *blocks("console")[1].split(), folder=home)


def test_given_pairs_get_links_as_the_page_says(home: Path) -> None:
    command, _, name = blocks("console")[3].strip().partition(" < ")
    pairs = (home / name).read_text(encoding="utf-8")
    told = run("-m", *command.split(), folder=home, stdin=pairs).splitlines()
    gold = (home / "gold.txt").read_text().splitlines()
    found = [set(line.split("\t")[1].split()) for line in told]
    right = sum(len(links & set(line.split())) for links, line in zip(found, gold, strict=True))
    assert right > 0.9 * sum(map(len, found))


def test_the_python_of_the_page_runs(home: Path) -> None:
    said = run("-W", "error", "-c", blocks("python")[1], folder=home).splitlines()
    assert said[0] == "('zwei', 'vier', '</s>') ('four', 'two', '</s>')"
    assert (home / "links.txt").read_text() == "0-1 1-0\n0-1 1-0\n"
    assert (home / "looks.safetensors").exists()
