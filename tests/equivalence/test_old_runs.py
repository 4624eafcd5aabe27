"""Runs that earlier versions wrote (`tests/old` has some) still load, answer as they did then, and go on."""

import json
import shutil
from pathlib import Path

import pytest

import regard
from regard.config import load_config
from regard.trainer import Trainer
from regard.training import Ended
from regard.training.state import TrainingState

OLD = Path(__file__).parent.parent / "old"
RUNS = sorted(OLD.glob("*/runs/*"))


@pytest.fixture(params=RUNS, ids=[f"{run.parent.parent.name}-{run.name}" for run in RUNS])
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of an old run, in its place beside its pairs."""
    version = request.param.parent.parent
    shutil.copytree(version, tmp_path / "there")
    monkeypatch.chdir(tmp_path / "there")
    return Path("runs", request.param.name)


def test_there_are_old_runs() -> None:
    assert {run.name for run in RUNS} == {"recurrent", "transformer"}


def test_an_old_model_answers_as_it_did_then(run: Path) -> None:
    then = json.loads(Path(f"{run.name}.json").read_text())
    answers = regard.load(run).predict([one["source"] for one in then])
    assert [answer.text for answer in answers] == [one["text"] for one in then]
    assert [answer.score for answer in answers] == pytest.approx([one["score"] for one in then], abs=1e-3)


def test_an_old_training_goes_on(run: Path) -> None:
    config = load_config(run / "config.toml", ["training.steps=50"])
    *_, last = Trainer(config, run).events()
    assert isinstance(last, Ended)
    assert (last.step, last.finished) == (50, True)


def test_a_run_of_a_version_to_come_is_refused_in_a_sentence(run: Path) -> None:
    path = run / "model/config.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(
        regard.UserError, match="has format 99, but this version of Regard reads formats up to 1"
    ):
        regard.load(run)
    state = run / "checkpoints/step-000040/state.json"
    document = json.loads(state.read_text())
    with pytest.raises(regard.UserError, match="was written by a newer version of Regard"):
        TrainingState.from_json({**document, "unheard_of": 1}, origin="state.json")


def test_what_an_older_version_did_not_keep_of_an_objective_begins_anew(run: Path) -> None:
    config = load_config(run / "config.toml", ["training.steps=50"])
    trainer = Trainer(config, run)
    checkpoint = trainer.checkpoints.newest()
    assert checkpoint is not None
    if run.name != "recurrent":
        assert not checkpoint.objective
        return
    assert checkpoint.objective
    trainer.checkpoints.save(checkpoint.model, checkpoint.optimizer, checkpoint.state, {})
    *_, last = trainer.events()
    assert isinstance(last, Ended)
    assert last.finished
