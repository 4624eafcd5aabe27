"""README's commands are run, on the real recipe, and reach what they claim."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import regard

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def shell_lines() -> list[str]:
    return [line for block in blocks("console") for line in block.splitlines() if line.strip()]


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "160", "OMP_NUM_THREADS": "1"}  # beside other tests
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, (line, done.stderr)
    return done


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which README's commands were run in their order."""
    folder = tmp_path_factory.mktemp("home")
    pairs = [
        f"{day}. {month}. {year}\t{year}-{month:02}-{day:02}"
        for year in range(1980, 2000)
        for month in (1, 5, 9)
        for day in range(1, 28)
    ]
    (folder / "pairs.tsv").write_text("\n".join(pairs) + "\n")
    return folder


@pytest.fixture(scope="module")
def ran(home: Path) -> dict[str, subprocess.CompletedProcess[str]]:
    done = {}
    for line in shell_lines():
        if line.startswith("make "):
            continue
        short = " --set training.steps=5" if line.startswith("regard train mine.toml") else ""
        done[line] = run(line.split("  #")[0] + short, home)
    return done


def output(ran: dict[str, subprocess.CompletedProcess[str]], word: str) -> str:
    (found,) = [done.stdout for line, done in ran.items() if word in line]
    return found


def test_the_date_model_reaches_995_of_1000_on_2000_unseen_dates(
    ran: dict[str, subprocess.CompletedProcess[str]], home: Path
) -> None:
    scores = json.loads((home / "runs/dates/scores.json").read_text())["test"]
    assert scores["exact_match"]["value"] >= 99.5
    assert sum(bucket["count"] for bucket in scores["exact_match"]["by_source_length"]) == 2000
    assert f"{scores['exact_match']['value']:.2f}" in output(ran, "--examples")


def test_the_report_is_a_page(ran: dict[str, subprocess.CompletedProcess[str]], home: Path) -> None:
    assert "exact_match" in output(ran, "--report")
    assert (home / "report.html").read_text(encoding="utf-8").count('class="look"') >= 6


def test_predict_answers_three_lines_with_three_lines(
    ran: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    assert output(ran, "regard predict") == "2018-05-09\n\n1999-08-03\n"


def test_the_picture_shows_year_month_and_day_looked_up_where_they_stand(
    ran: dict[str, subprocess.CompletedProcess[str]], home: Path
) -> None:
    assert (home / "map.png").read_bytes().startswith(b"\x89PNG")
    source = "Saturday 09 May 2018"
    answer = regard.load(home / "runs/dates").predict(source)
    assert answer.text == "2018-05-09"
    weights = answer.attention.cross()  # T S
    places = {"year": (slice(0, 4), "2018"), "month": (slice(5, 7), "May"), "day": (slice(8, 10), "09")}
    for name, (rows, text) in places.items():
        start = source.index(text)
        share = weights[rows, start : start + len(text)].sum(axis=1).mean()
        assert share > 0.6, (name, share)


def test_the_python_of_the_readme_runs(ran: dict[str, subprocess.CompletedProcess[str]], home: Path) -> None:
    (code,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=home, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2018-05-09 -")


def test_the_other_commands_of_the_readme_say_what_they_should(
    ran: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    assert 'score = "general"' in output(ran, "config show")
    assert "dates" in output(ran, "regard recipes")
    assert "All is well." in output(ran, "regard doctor")


def test_the_make_targets_of_the_readme_do_what_it_says() -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    targets = [line.split()[1] for line in shell_lines() if line.startswith("make ")]
    assert targets == ["demo", "test"]
    plan = subprocess.run(
        ["make", "--dry-run", "demo", "test"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for part in (
        "regard train dates",
        "regard evaluate runs/dates",
        "regard explain runs/dates",
        "mypy",
        "pytest",
    ):
        assert part in plan.stdout


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "make test" in (ROOT / ".ci/run").read_text().splitlines()


def test_the_tree_of_the_readme_names_every_part_and_no_other() -> None:
    (tree,) = re.findall(r"```\nregard/\n(.*?)```", README, flags=re.DOTALL)
    named = {line.split()[0].rstrip("/").removesuffix(".py") for line in tree.splitlines()}
    package = Path(regard.__file__).parent
    parts = {
        path.stem
        for path in package.iterdir()
        if path.suffix == ".py" or (path.is_dir() and "__" not in path.name)
    }
    assert named == parts - {"__init__", "__main__", "py"}


def test_links_between_documents_lead_somewhere() -> None:
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        prose = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#]+)", prose):
            assert (document.parent / target).exists(), (document, target)
