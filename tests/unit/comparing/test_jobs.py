from pathlib import Path

import pytest
from commands import TINY

from regard.comparing import jobs
from regard.comparing.jobs import Finished, Job, Started, threads_each, work
from regard.comparing.lineups import Candidate
from regard.config import load_config


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
