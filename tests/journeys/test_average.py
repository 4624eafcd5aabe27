"""The mean of a run's newest checkpoints, and the moving average of its weights, as models."""

import json
import re
import shutil
from pathlib import Path

import forked
import numpy as np
import pytest
from commands import TINY, environment, regard, sentence
from safetensors.numpy import load_file

import regard as library
from regard.averaging import average
from regard.build import networks
from regard.config import Config, load_config
from regard.core.errors import UserError
from regard.evaluation import evaluate
from regard.models import Seq2Seq
from regard.run import find_model
from regard.trainer import Trainer
from regard.training import Averaged

# Large steps, so that the mean is better than where they end.
RESTLESS = TINY.replace(
    "[training]",
    "[training]\naverage = 3\nkeep = 3\nschedule = 'constant'\nlearning_rate = 0.2",
).replace("[evaluation]", "[evaluation]\nat_end = false")
WEIGHTS = "model/model.safetensors"


@pytest.fixture(scope="session")
def restless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny.toml and its finished run runs/tiny, whose model is a mean. Tests leave it as it is."""
    folder = tmp_path_factory.mktemp("restless")
    (folder / "tiny.toml").write_text(RESTLESS)
    done = regard("train", "tiny.toml", folder=folder)
    (folder / "said").write_bytes(done.stderr)
    return folder


@pytest.fixture
def copy(restless: Path, tmp_path: Path) -> Path:
    shutil.copytree(restless, tmp_path, dirs_exist_ok=True)
    return tmp_path


def configuration(folder: Path, *changes: str) -> Config:
    (folder / "tiny.toml").write_text(RESTLESS)
    return load_config(folder / "tiny.toml", changes)


def lines(run: Path, kind: str) -> list[dict[str, object]]:
    record = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line for line in record if line["kind"] == kind]


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def test_the_mean_that_validates_better_becomes_the_model_and_all_say_so(restless: Path) -> None:
    run = restless / "runs/tiny"
    saved = [load_file(run / f"checkpoints/step-{step:06d}/model.safetensors") for step in (18, 21, 24)]
    model = load_file(run / WEIGHTS)
    assert model.keys() == saved[0].keys()
    for name, tensor in model.items():
        mean = np.mean([one[name].astype(np.float64) for one in saved], axis=0)
        np.testing.assert_array_equal(tensor, mean.astype(tensor.dtype), err_msg=name)
    said = (restless / "said").read_text()
    assert "mean of the checkpoints at steps 18, 21, 24: loss" in said
    assert "(better than step 24: it becomes the model)" in said
    (line,) = lines(run, "average")
    best = min(float(str(one["loss"])) for one in lines(run, "validation"))
    assert float(str(line["loss"])) < best
    assert (line["step"], line["steps"], line["is_best"]) == (24, [24, 21, 18], True)
    card = (run / "model/README.md").read_text()
    assert "mean of the checkpoints at steps 18, 21, 24" in card


def test_a_mean_that_is_not_better_leaves_the_best_checkpoint_the_model(tmp_path: Path) -> None:
    """With small steps and a loss that still falls, what was earlier only pulls back."""
    config = configuration(tmp_path, "training.learning_rate=1e-3")
    events = list(Trainer(config, tmp_path / "run").events())
    (averaged,) = [event for event in events if isinstance(event, Averaged)]
    assert not averaged.is_best
    best = tmp_path / f"run/checkpoints/step-{averaged.best:06d}/model.safetensors"
    assert (tmp_path / "run" / WEIGHTS).read_bytes() == best.read_bytes()
    assert "mean of" not in (tmp_path / "run/model/README.md").read_text()
    (line,) = lines(tmp_path / "run", "average")
    assert line["is_best"] is False


def test_killed_anywhere_in_the_averaging_and_trained_again_it_ends_in_the_same_model(
    restless: Path, tmp_path: Path
) -> None:
    (tmp_path / "tiny.toml").write_text(RESTLESS)
    script = Path(__file__).parent / "averager.py"
    run, wanted = tmp_path / "runs/tiny", restless / "runs/tiny"
    done = forked.run([str(script)], folder=tmp_path, environment=environment(), timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    assert len(done.stdout.splitlines()) == 6
    assert (run / WEIGHTS).read_bytes() == (wanted / WEIGHTS).read_bytes()
    assert (run / "model/README.md").read_bytes() == (wanted / "model/README.md").read_bytes()
    assert lines(run, "average") == lines(wanted, "average")


@pytest.mark.parametrize("stops", [(23,), (1, 20, 22)])
def test_stopped_at_any_step_it_ends_in_the_same_model(
    stops: tuple[int, ...], restless: Path, tmp_path: Path
) -> None:
    config = configuration(tmp_path)
    for stop in (*stops, None):
        trainer = Trainer(config, tmp_path / "run")
        steps = iter(range(1000))
        reached = max(trainer.checkpoints.steps(), default=0)
        trainer.stop = lambda stop=stop, reached=reached, steps=steps: (
            "asked" if stop is not None and reached + next(steps) >= stop else None
        )
        list(trainer.events())
        assert stop is None or trainer.checkpoints.steps()[-1] == stop
    for name in (WEIGHTS, *(f"checkpoints/step-{step:06d}/model.safetensors" for step in (18, 21, 24))):
        assert (tmp_path / "run" / name).read_bytes() == (restless / "runs/tiny" / name).read_bytes(), name
    assert trainer.checkpoints.steps() == [18, 21, 24]


def test_a_finished_run_trained_again_keeps_its_mean_and_its_scored_card(copy: Path) -> None:
    run = copy / "runs/tiny"
    evaluate(run)
    before = {name: (run / name).read_bytes() for name in (WEIGHTS, "model/README.md")}
    assert b"mean of the checkpoints at steps 18, 21, 24" in before["model/README.md"]
    assert b"| exact_match |" in before["model/README.md"]
    stamp = (run / WEIGHTS).stat().st_mtime_ns
    list(Trainer(load_config(copy / "tiny.toml"), run).events())
    assert {name: (run / name).read_bytes() for name in before} == before
    assert (run / WEIGHTS).stat().st_mtime_ns == stamp
    assert len(lines(run, "average")) == 1


def test_the_command_writes_a_model_that_is_loadable_on_its_own(copy: Path, tmp_path: Path) -> None:
    done = regard("average", "runs/tiny", folder=copy)
    assert b"runs/tiny/averaged, the mean of the checkpoints at steps 18, 21, 24" in done.stderr
    averaged = copy / "runs/tiny/averaged"
    assert {path.name for path in averaged.iterdir()} == {
        path.name for path in (copy / "runs/tiny/model").iterdir()
    }
    assert (averaged / "model.safetensors").read_bytes() == (copy / "runs/tiny" / WEIGHTS).read_bytes()
    assert "mean of the checkpoints at steps 18, 21, 24" in (averaged / "README.md").read_text()
    moved = copy / "alone"
    averaged.rename(moved)
    shutil.rmtree(copy / "runs")
    answer = regard("predict", "alone", folder=copy, stdin=b"3 May 2018\n").stdout.decode()
    assert answer == library.load(moved).predict("3 May 2018").text + "\n"
    assert b"exact_match" in regard("evaluate", "alone", folder=copy).stdout


def test_as_many_as_asked_for_are_averaged_where_asked_for_and_again_in_the_run(copy: Path) -> None:
    average(copy / "runs/tiny", last=2, output=copy / "models/two")
    saved = [load_file(copy / f"runs/tiny/checkpoints/step-{n:06d}/model.safetensors") for n in (21, 24)]
    for name, tensor in load_file(copy / "models/two/model.safetensors").items():
        mean = (saved[0][name].astype(np.float64) + saved[1][name]) / 2
        np.testing.assert_array_equal(tensor, mean.astype(tensor.dtype))
    for last in (3, 1):  # what is in the run already is replaced
        average(copy / "runs/tiny", last=last)
    one = load_file(copy / "runs/tiny/averaged/model.safetensors")
    for name, tensor in one.items():
        np.testing.assert_array_equal(tensor, saved[1][name])
    assert [path.name for path in (copy / "models").iterdir()] == ["two"]


@pytest.mark.parametrize(
    ("run", "last", "output", "words"),
    [
        ("runs/none", None, None, "runs/none: there is no such run"),
        ("models", None, None, "models is not a run"),
        ("runs/tiny", 4, None, "has 3 checkpoints, not 4. Ask for fewer"),
        ("runs/tiny", None, "runs/tiny", "runs/tiny is there already"),
        ("runs/tiny", None, "runs/tiny/model", "model is there already"),
        ("runs/tiny", None, "tiny.toml", "tiny.toml is there already"),
        ("runs/fresh", None, None, "runs/fresh has no checkpoints yet"),
    ],
)
def test_what_can_not_be_averaged_is_refused(
    run: str, last: int | None, output: str | None, words: str, copy: Path
) -> None:
    (copy / "models").mkdir()
    shutil.copytree(copy / "runs/tiny", copy / "runs/fresh")
    shutil.rmtree(copy / "runs/fresh/checkpoints")
    with pytest.raises(UserError, match=words):
        average(copy / run, last=last, output=copy / output if output else None)
    assert not (copy / "runs/tiny/averaged").exists()


def test_damaged_checkpoints_are_refused_and_can_be_made_again(copy: Path, restless: Path) -> None:
    run = copy / "runs/tiny"
    flip(run / "checkpoints/step-000021/model.safetensors")
    refusal = r"step-000021/model.safetensors has changed since.*Remove this checkpoint and those after it and train on"
    assert re.search(refusal, sentence(regard("average", "runs/tiny", folder=copy, code=2)))
    with pytest.raises(UserError, match=refusal):
        list(Trainer(load_config(copy / "tiny.toml"), run).events())
    assert not (run / "averaged").exists()
    assert (run / WEIGHTS).read_bytes() == (restless / "runs/tiny" / WEIGHTS).read_bytes()
    for step in (21, 24):  # as it said
        shutil.rmtree(run / f"checkpoints/step-{step:06d}")
    list(Trainer(load_config(copy / "tiny.toml"), run).events())
    assert (run / WEIGHTS).read_bytes() == (restless / "runs/tiny" / WEIGHTS).read_bytes()


def test_with_a_moving_average_it_is_the_model_whether_stopped_or_not(tmp_path: Path) -> None:
    config = configuration(tmp_path, "training.average=1", "training.ema=0.9")
    models = []
    for name, stops in (("straight", []), ("stopped", [20])):
        for stop in (*stops, 1000):
            asked = iter(range(1000))
            list(
                Trainer(
                    config, tmp_path / name, stop=lambda s=stop, a=asked: "asked" if next(a) >= s else None
                ).events()
            )
        best = json.loads((tmp_path / name / "checkpoints/step-000024/state.json").read_text())["best"][
            "step"
        ]
        folder = tmp_path / name / f"checkpoints/step-{best:06d}"
        models.append((tmp_path / name / WEIGHTS).read_bytes())
        assert models[-1] == (folder / "ema.safetensors").read_bytes()
        assert models[-1] != (folder / "model.safetensors").read_bytes()
    assert models[0] == models[1]
    library.load(tmp_path / "straight").predict("3 May 2018")


def test_the_mean_of_checkpoints_with_a_moving_average_is_that_of_the_moving_averages(tmp_path: Path) -> None:
    config = configuration(tmp_path, "training.ema=0.5", "training.steps=8", "training.save_every=4")
    list(Trainer(config, tmp_path / "run").events())
    average(tmp_path / "run")
    saved = [load_file(tmp_path / f"run/checkpoints/step-{step:06d}/ema.safetensors") for step in (4, 8)]
    for name, tensor in load_file(tmp_path / "run/averaged/model.safetensors").items():
        mean = (saved[0][name].astype(np.float64) + saved[1][name]) / 2
        np.testing.assert_array_equal(tensor, mean.astype(tensor.dtype))


def test_a_model_with_one_table_for_both_sides_is_trained_stopped_averaged_and_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    untied = networks._unlearned

    def tied(config: Config, sizes: dict[str, int]) -> Seq2Seq:
        model = untied(config, sizes)
        model.encoder.embedding.table.weight = model.decoder.embedding.table.weight
        return model

    monkeypatch.setattr(networks, "_unlearned", tied)  # as it begins and as it loads
    config = configuration(tmp_path, "text.shared=true", "training.ema=0.5")
    for name, stops in (("straight", []), ("stopped", [10])):
        for stop in (*stops, 1000):
            asked = iter(range(1000))
            list(
                Trainer(
                    config, tmp_path / name, stop=lambda s=stop, a=asked: "asked" if next(a) >= s else None
                ).events()
            )
    assert (tmp_path / "straight" / WEIGHTS).read_bytes() == (tmp_path / "stopped" / WEIGHTS).read_bytes()
    assert "decoder.embedding.table.weight" not in load_file(tmp_path / "straight" / WEIGHTS)
    for folder in (tmp_path / "straight", average(tmp_path / "straight", last=2).folder):
        model = library.load(folder).models[0]
        assert model.encoder.embedding.table.weight is model.decoder.embedding.table.weight
        table = load_file(find_model(folder).weights_path)["encoder.embedding.table.weight"]
        np.testing.assert_array_equal(model.decoder.embedding.table.weight.detach().numpy(), table)
