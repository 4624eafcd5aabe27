"""docs/python.md and docs/extending.md: their code is run, and a score of one's own is trained and looked at."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
SMALL = ["task.pairs=300", "data.validation_size=20", "data.test_size=20", "training.steps=20"]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def run(words: list[str], folder: Path) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def small(*changes: str) -> list[str]:
    return [word for change in (*SMALL, *changes) for word in ("--set", change)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small run of the dates."""
    folder = tmp_path_factory.mktemp("python")
    run(["-m", "regard", "train", "dates", *small()], folder)
    return folder


def test_all_code_of_the_python_page_runs(home: Path) -> None:
    code = "\n".join(blocks("python.md", "python"))
    assert "training.steps=20" in code
    code = code.replace('"training.steps=20"', ", ".join(f'"{change}"' for change in SMALL))
    code += """
assert attended.context.shape == (3, 5, 96) and attended.weights.shape == (3, 2, 5, 7)
assert record.cross().shape == (len(record.target_pieces), len(record.source_pieces))
assert len(answers) == 2 and len(answers[0].alternatives) == 2
assert told.text == "2018-05-09" and told.score < 0
"""
    printed = run(["-W", "error::DeprecationWarning", "-c", code], home)
    assert printed.splitlines()[0].startswith("10 ")


def test_the_fields_that_the_python_page_names_are_there() -> None:
    from regard import Prediction, Request

    page = (DOCS / "python.md").read_text(encoding="utf-8")
    table = page.split("| of a `Prediction` | |")[1].split("\n\n")[0]
    named = {
        name
        for line in table.splitlines()[2:]
        for name in re.findall(r"`(\w+)(?:\(\))?`", line.split("|")[1])
    }
    assert len(named) > 10
    assert named <= {*Prediction.__dataclass_fields__, "plot"}
    wishes = re.findall(r"(\w+)=\.\.\.", page)
    assert wishes
    assert set(wishes) <= set(Request.__dataclass_fields__)


def test_a_score_of_ones_own_is_trained_and_looked_at(home: Path) -> None:
    (code,) = blocks("extending.md", "python")
    (home / "mine.py").write_text(code, encoding="utf-8")
    (commands,) = blocks("extending.md", "console")
    train, explain = commands.splitlines()
    run([*train.split()[1:], *small()], home)
    assert 'score = "tanh_general"' in (home / "runs/mine/config.toml").read_text()
    run([*explain.split('"')[0].split()[1:], "Saturday 09 May 2018", "-o", "mine.png"], home)
    assert (home / "mine.png").read_bytes().startswith(b"\x89PNG")


def test_a_process_that_was_not_told_of_a_score_says_so(home: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "regard",
            "config",
            "show",
            "dates",
            "--set",
            "model.attention.score=tanh_general",
        ],
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert "'tanh_general' is not one of " in done.stderr


def test_every_page_stands_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert linked == {path.name for path in DOCS.glob("*.md")} - {"README.md"}
