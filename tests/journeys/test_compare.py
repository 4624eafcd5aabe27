"""Several models in one command: trained, killed and gone on, given as folders."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import TINY, regard, sentence, start

from regard.comparing.answers import shared_test_set
from regard.comparing.lineups import Wishes, line_up
from regard.core.errors import UserError

SMALL = TINY.replace("steps = 24", "steps = 8").replace("validate_every = 8", "validate_every = 4")
WHAT = ("tiny.toml", "--vary", "model.attention.score=none,additive", "--reach", "1")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a comparison that was never interrupted: runs/compare-tiny."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "tiny.toml").write_text(SMALL)
    (folder / "printed.md").write_bytes(
        regard("compare", *WHAT, "--processes", "2", "--show", "markdown", folder=folder).stdout
    )
    return folder


def found(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "compare.json").read_text())
    return document


def figures(folder: Path) -> list[Any]:
    """All that does not depend on the clock."""
    names = ("name", "scores", "parameters", "steps", "target_pieces")
    return [[one[name] for name in names] for one in found(folder)["models"]]


def test_it_ends_with_a_table_a_page_and_a_document(home: Path) -> None:
    folder = home / "runs/compare-tiny"
    names = [one["name"] for one in found(folder)["models"]]
    assert names == ["score=none", "score=additive"]
    assert (folder / "compare.md").read_bytes() == (home / "printed.md").read_bytes()
    page = (folder / "compare.html").read_text()
    assert "score=additive" in page
    assert page.count('class="look"') == 3  # one model looks, at three sentences
    assert (folder / "compare.png").read_bytes().startswith(b"\x89PNG")
    assert found(folder)["budget"] == "8 steps each"
    assert sum(part["count"] for part in found(folder)["by_source_length"]["exact_match"]) == 20


def test_a_second_start_trains_nothing_and_gives_the_same(home: Path) -> None:
    folder = home / "runs/compare-tiny"
    before = found(folder)
    done = regard("compare", *WHAT, "--processes", "2", folder=home)
    assert b"2 are done already" in done.stderr
    assert b"started" not in done.stderr
    assert found(folder) == before


def test_killed_in_the_middle_and_started_again_it_ends_with_the_same_figures(home: Path) -> None:
    folder = home / "killed"
    process = start("compare", *WHAT, "--folder", folder, folder=home)
    first = folder / "score=none-1"
    wait_for(lambda: list(first.glob("checkpoints/step-*")) or process.poll() is not None)
    worker = int((first / ".lock").read_text())
    process.kill()
    process.communicate()
    wait_for(lambda: not is_running(worker))  # its run would be locked
    assert not (folder / "compare.json").exists()
    regard("compare", *WHAT, "--folder", folder, folder=home)
    assert figures(folder) == figures(home / "runs/compare-tiny")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_asked_to_stop_it_saves_its_runs_and_says_how_to_go_on(home: Path, number: signal.Signals) -> None:
    folder = home / number.name
    process = start("compare", *WHAT, "--set", "training.steps=100000", "--folder", folder, folder=home)
    record = folder / "score=none-1" / "metrics.jsonl"
    wait_for(lambda: record.exists() or process.poll() is not None)
    refused = regard(
        "compare", *WHAT, "--folder", folder, "--set", "training.steps=100000", folder=home, code=2
    )
    assert f"process {process.pid} is training here already" in sentence(refused)
    process.send_signal(number)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 128 + number
    assert b"To go on, run the same command again" in said
    newest = max(json.loads(line)["step"] for line in record.read_text().splitlines())
    assert max(int(path.name.removeprefix("step-")) for path in record.parent.glob("checkpoints/*")) >= newest


def wait_for(happened: Callable[[], object]) -> None:
    until = time.monotonic() + 300
    while not happened():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/status")
    return not (status.exists() and "State:\tZ" in status.read_text())


def test_runs_that_are_there_are_given_as_folders(home: Path) -> None:
    runs = [Path("runs/compare-tiny") / name for name in ("score=additive-1", "score=none-1")]
    regard("compare", *runs, "--folder", "given", "--against", "first", folder=home)
    assert found(home / "given")["reference"] == "score=additive-1"
    assert "2 runs beside each other" in found(home / "given")["conditions"]  # as they noted
    assert sorted(one[1]["exact_match"]["values"] for one in figures(home / "given")) == sorted(
        one[1]["exact_match"]["values"] for one in figures(home / "runs/compare-tiny")
    )


def test_runs_with_other_test_pairs_are_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    Path("other.toml").write_text(SMALL.replace("[data]", "[data]\nseed = 7"))
    lineup = line_up(["runs/compare-tiny/score=none-1", "other.toml"], Wishes(), Path("mixed"))
    with pytest.raises(UserError, match="has other test pairs than"):
        shared_test_set(lineup)


def test_a_mistake_is_told_in_a_sentence(home: Path) -> None:
    done = regard("compare", "tiny.toml", "--vary", "training.sed=1,2", folder=home, code=2)
    assert "unknown setting 'training.sed'. Did you mean 'training.seed'?" in sentence(done)
