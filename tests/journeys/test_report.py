"""Scores that are kept, compared and put on a page."""

import json
import shutil
from pathlib import Path

import pytest
from commands import regard, sentence

from regard import build
from regard.core.figures import figure
from regard.run import Run


@pytest.fixture
def home(tiny: Path, tmp_path: Path) -> Path:
    """A folder with a finished run that a test may change."""
    shutil.copytree(tiny / "runs/tiny", tmp_path / "runs/tiny", ignore=shutil.ignore_patterns("checkpoints"))
    for name in ("predictions", "scores.json"):
        shutil.rmtree(tmp_path / "runs/tiny" / name, ignore_errors=True)
        (tmp_path / "runs/tiny" / name).unlink(missing_ok=True)
    return tmp_path


def test_answers_are_kept_with_the_run_and_used_again(home: Path) -> None:
    old = {"validation": {"bleu": {"value": 1.5, "signature": "of an older version"}}}
    (home / "runs/tiny/scores.json").write_text(json.dumps(old))
    first = regard("evaluate", "runs/tiny", folder=home)
    saved = (home / "runs/tiny/scores.json").read_bytes()
    scores = json.loads(saved)
    assert scores["validation"] == old["validation"]
    for score in scores["test"].values():
        low, high = score["interval"]
        assert low <= score["value"] <= high
        assert sum(bucket["count"] for bucket in score["by_source_frequency"]) == 20
        assert (
            f"{figure(score['value'])} ±{figure((high - low) / 2, like=score['value'])}"
            in first.stdout.decode()
        )
    again = regard("evaluate", "runs/tiny", folder=home)
    assert b"The answers are those of runs/tiny/predictions/test.jsonl" in again.stderr
    assert b"The answers are those" not in first.stderr
    assert again.stdout == first.stdout
    assert (home / "runs/tiny/scores.json").read_bytes() == saved


def test_a_run_is_compared_and_all_of_it_stands_on_one_page(home: Path) -> None:
    regard("evaluate", "runs/tiny", folder=home)
    kept = (home / "runs/tiny/predictions/test.jsonl").read_bytes()
    asked = ("--beam", "3", "--metric", "ter", "--against", "runs/tiny", "--report", "out/report.html")
    done = regard("evaluate", "runs/tiny", *asked, folder=home)
    table = done.stdout.decode()
    assert "against tiny" in table
    assert "rarest word" in table
    rows = [line.split() for line in table[table.index("against tiny") :].splitlines()[1:4]]
    assert [row[0] for row in rows] == ["exact_match", "character_error_rate", "ter"]
    assert all(0 < float(row[4]) <= 1 for row in rows)
    assert (home / "runs/tiny/predictions/test.jsonl").read_bytes() == kept
    page = (home / "out/report.html").read_text(encoding="utf-8")
    for part in (
        "Beside another run",
        "The worst answers",
        "beam 3",
        "By frequency",
        'class="curve validation"',
    ):
        assert part in page
    assert page.count('class="look"') == 12


def test_a_run_is_no_better_than_its_copy(home: Path) -> None:
    shutil.copytree(home / "runs/tiny", home / "runs/copy")
    table = regard("evaluate", "runs/tiny", "--against", "runs/copy", folder=home).stdout.decode()
    assert table.count("1.0000  no clear difference") == 2
    assert not (home / "runs/copy/predictions").exists()


def test_runs_with_other_test_pairs_are_not_compared(home: Path) -> None:
    shutil.copytree(home / "runs/tiny", home / "runs/other")
    path = home / "runs/other/model/config.json"
    document = json.loads(path.read_text())
    document["data"]["test"]["fingerprint"] = "of other pairs"
    path.write_text(json.dumps(document))
    done = regard("evaluate", "runs/tiny", "--against", "runs/other", folder=home, code=2)
    assert "runs/other has other test pairs than runs/tiny" in sentence(done)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("--metric", "blue"), "There is no metric 'blue'. Did you mean 'bleu'"),
        (("--report", "report.pdf"), "Give it a name that ends with .html"),
        (("--against", "runs/nothing"), "there is no such run"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_predicted(
    asked: tuple[str, str], told: str, home: Path
) -> None:
    done = regard("evaluate", "runs/tiny", *asked, folder=home, code=2)
    assert told in sentence(done)
    assert not (home / "runs/tiny/predictions").exists()


def test_another_test_set_is_scored_and_nothing_of_the_run_changes(home: Path) -> None:
    regard("evaluate", "runs/tiny", folder=home)
    config = Run(home / "runs/tiny").config()
    assert config is not None
    known = next(iter(build.task(config).examples().train()))
    (home / "new.tsv").write_text(
        f"{known.source}\t{known.target}\nxyz May 2018\t2018-05-03\n", encoding="utf-8"
    )
    files = {path: path.read_bytes() for path in (home / "runs").rglob("*") if path.is_file()}
    options = ("--pairs", "new.tsv", "--against", "runs/tiny", "--report", "new.html")
    done = regard("evaluate", "runs/tiny", *options, folder=home)
    table = done.stdout.decode()
    assert "new.tsv (2 sources)" in table
    assert "rarest word unseen (1)" in table
    assert table.count("1.0000  no clear difference") == 2
    assert b"1 of the 2 sources of new.tsv were trained on" in done.stderr
    assert b"Saved in" not in done.stderr
    assert "2 new.tsv pairs" in (home / "new.html").read_text(encoding="utf-8")
    assert {path: path.read_bytes() for path in (home / "runs").rglob("*") if path.is_file()} == files
    missing = regard("evaluate", "runs/tiny", "--pairs", "none.tsv", folder=home, code=2)
    assert "none.tsv" in sentence(missing)


def test_a_program_reads_the_scores_that_are_saved(home: Path) -> None:
    done = regard("evaluate", "runs/tiny", "--output", "json", folder=home)
    document = json.loads(done.stdout)
    assert document["scores"] == json.loads((home / "runs/tiny/scores.json").read_text())["test"]
    assert (document["name"], document["split"], document["sources"]) == ("tiny", "test", 20)
    assert document["search"]["max_length"] == 14
    assert b"Saved in" in done.stderr
