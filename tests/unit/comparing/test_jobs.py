from pathlib import Path

import pytest
from commands import TINY

from regard.comparing import jobs
from regard.comparing.conditions import noted_conditions
from regard.comparing.jobs import Finished, Job, Started, check_cores, threads_each, work
from regard.comparing.lineups import Candidate
from regard.config import load_config


def test_a_run_that_is_scored_again_keeps_the_conditions_of_its_training(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY.replace("steps = 24", "steps = 2"))
    config = load_config(tmp_path / "tiny.toml")
    candidate = Candidate("tiny", config, tmp_path / "run", is_given=False)
    for kind, processes in (("train", 1), ("go on", 2)):
        *_, finished = work([Job(candidate, kind)], processes=processes)
        assert finished == Finished(candidate)
    assert [one.processes for one in noted_conditions(candidate.folder)] == [1]


def test_more_runs_at_once_than_there_are_cores_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(jobs, "cores", lambda: 2)
    check_cores(2)
    assert not caplog.text
    check_cores(3)
    assert "3 runs beside each other on 2 cores" in caplog.text


def test_a_run_that_fails_says_why_and_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    pieces = f"text.source={{kind='sentencepiece', file='{tmp_path}/missing.model'}}"
    config = load_config(tmp_path / "tiny.toml", [pieces])
    candidate = Candidate("broken", config, tmp_path / "run", is_given=False)
    started, finished = work([Job(candidate, "train")], processes=2)
    assert started == Started(candidate)
    assert isinstance(finished, Finished)
    assert finished.problem is not None
    assert "missing.model" in finished.problem


@pytest.mark.parametrize(("given", "expected"), [("", 4), ("3", 3), ("nonsense", 4)])
def test_processes_share_the_cores_unless_somebody_says_how_many_threads(
    given: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "cores", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert threads_each(2) == expected
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    assert threads_each(20) == 1
