import logging
from pathlib import Path

import pytest
import torch

from regard.core.errors import UserError
from regard.training.checkpoints import (
    EMA,
    MANIFEST,
    MODEL,
    OPTIMIZER,
    STATE,
    Checkpoints,
    DamagedError,
    model_file,
    verify,
)
from regard.training.state import Best, TrainingState

WEIGHTS = {"layer.weight": torch.arange(6.0).reshape(2, 3)}
MOMENTS = {"0.exp_avg": torch.ones(2, 3), "0.step": torch.tensor(3.0)}


def save(folder: Path, *steps: int, keep: int = 2, best: int | None = None) -> Checkpoints:
    checkpoints = Checkpoints(folder, keep=keep)
    for step in steps:
        found = Best(best, 0.5, 1.0) if best is not None and best <= step else None
        checkpoints.save(WEIGHTS, MOMENTS, TrainingState(step=step, best=found).with_rng(torch.device("cpu")))
    return checkpoints


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    loaded = save(tmp_path, 7).newest()
    assert loaded is not None
    assert torch.equal(loaded.model["layer.weight"], WEIGHTS["layer.weight"])
    assert torch.equal(loaded.optimizer["0.step"], MOMENTS["0.step"])
    assert loaded.state.step == 7
    assert loaded.state.rng.keys() >= {"cpu"}


def test_the_newest_and_the_best_are_kept(tmp_path: Path) -> None:
    assert save(tmp_path, 10, 20, 30, 40, 50, best=20).steps() == [20, 40, 50]


def test_after_falling_back_the_good_ones_are_kept_and_the_damaged_ones_go(tmp_path: Path) -> None:
    checkpoints = save(tmp_path, 10, 20, 30)
    for step in (20, 30):
        (checkpoints.path(step) / STATE).write_text("{}")
    save(tmp_path, 13)
    assert checkpoints.steps() == [13]
    save(tmp_path, 16, 19)
    assert checkpoints.steps() == [16, 19]
    assert checkpoints.newest() is not None


def test_a_state_of_another_format_is_refused(tmp_path: Path) -> None:
    document = TrainingState().to_json() | {"format": 99}
    with pytest.raises(UserError, match="format 99"):
        TrainingState.from_json(document, origin="state.json")


def test_a_folder_without_checkpoints_has_no_newest(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none").newest() is None


@pytest.mark.parametrize("name", [MODEL, OPTIMIZER, STATE, MANIFEST])
def test_one_flipped_bit_anywhere_is_detected_and_the_previous_checkpoint_is_used(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoints = save(tmp_path, 1, 2)
    path = checkpoints.path(2) / name
    original = path.read_bytes()
    places = range(8 * len(original)) if len(original) < 500 else range(0, 8 * len(original), 97)
    for place in places:
        damaged = bytearray(original)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(DamagedError):
            verify(checkpoints.path(2))
    with caplog.at_level(logging.WARNING, logger="regard"):
        newest = checkpoints.newest()
    assert newest is not None
    assert newest.state.step == 1
    assert "step-000002" in caplog.text


@pytest.mark.parametrize("name", [MODEL, OPTIMIZER, STATE, MANIFEST])
def test_a_missing_or_cut_file_is_detected(name: str, tmp_path: Path) -> None:
    checkpoints = save(tmp_path, 1, 2)
    path = checkpoints.path(2) / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedError):
        verify(checkpoints.path(2))
    path.unlink()
    with pytest.raises(DamagedError):
        verify(checkpoints.path(2))


def test_when_all_are_damaged_the_person_is_told(tmp_path: Path) -> None:
    checkpoints = save(tmp_path, 1, 2)
    for step in (1, 2):
        (checkpoints.path(step) / STATE).write_text("{}")
    with pytest.raises(UserError, match="every checkpoint is damaged"):
        checkpoints.newest()


def test_half_a_checkpoint_of_a_killed_process_is_never_seen_and_is_cleared_away(tmp_path: Path) -> None:
    checkpoints = save(tmp_path, 1)
    (tmp_path / ".writing-step-000002").mkdir()
    (tmp_path / ".writing-step-000002" / MODEL).write_bytes(b"half")
    assert checkpoints.steps() == [1]
    save(tmp_path, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000001", "step-000003"]


def test_a_save_that_fails_leaves_the_earlier_ones_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = save(tmp_path, 1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("regard.training.checkpoints.save_file", full)
    with pytest.raises(UserError, match="No space left"):
        save(tmp_path, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000001"]
    assert checkpoints.newest() is not None


def test_a_moving_average_is_saved_beside_the_weights_and_is_the_model(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    average = {"layer.weight": torch.full((2, 3), 0.5)}
    checkpoints.save(WEIGHTS, MOMENTS, TrainingState(step=1), ema=average)
    loaded = checkpoints.load(1)
    assert torch.equal(loaded.model["layer.weight"], WEIGHTS["layer.weight"])
    assert torch.equal(loaded.ema["layer.weight"], average["layer.weight"])
    assert torch.equal(checkpoints.weights(1)["layer.weight"], average["layer.weight"])
    assert model_file(checkpoints.path(1)).name == EMA


def test_without_a_moving_average_a_checkpoint_has_the_same_files_as_ever(tmp_path: Path) -> None:
    checkpoints = save(tmp_path, 1)
    files = {path.name for path in checkpoints.path(1).iterdir()}
    assert files == {MODEL, OPTIMIZER, STATE, MANIFEST}
    assert checkpoints.load(1).ema == {}
    assert model_file(checkpoints.path(1)).name == MODEL


@pytest.mark.parametrize("damage", ["bit", "gone", "slipped in"])
def test_a_moving_average_that_is_not_as_it_was_written_is_not_believed(damage: str, tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save(WEIGHTS, MOMENTS, TrainingState(step=1), ema=None if damage == "slipped in" else WEIGHTS)
    path = checkpoints.path(1) / EMA
    if damage == "slipped in":
        path.write_bytes((checkpoints.path(1) / MODEL).read_bytes())
        assert model_file(checkpoints.path(1)).name == MODEL
        assert checkpoints.load(1).ema == {}
        return
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content) if damage == "bit" else path.unlink()
    with pytest.raises(DamagedError, match=EMA):
        model_file(checkpoints.path(1))


def test_one_saved_because_somebody_stopped_takes_no_place_among_the_newest(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3, planned=lambda step: step % 10 == 0)
    kept = {}
    for step in (10, 20, 25, 30, 37, 40, 41, 42):
        checkpoints.save(WEIGHTS, MOMENTS, TrainingState(step=step))
        kept[step] = checkpoints.steps()
    assert kept[25] == [10, 20, 25]
    assert kept[37] == [10, 20, 30, 37]
    assert kept[40] == [20, 30, 40]
    assert kept[42] == [20, 30, 40, 42]


def test_the_mean_of_checkpoints_is_that_of_their_weights(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    for step, value in ((1, 1.0), (2, 4.0)):
        weights = {"w": torch.tensor([value]), "count": torch.tensor(step)}
        checkpoints.save(weights, MOMENTS, TrainingState(step=step))
    found = checkpoints.mean([2, 1])
    assert found["w"].tolist() == [2.5]
    assert found["count"].item() == 2


@pytest.mark.parametrize("name", [MODEL, OPTIMIZER, STATE, MANIFEST])
def test_a_damaged_checkpoint_is_never_averaged(name: str, tmp_path: Path) -> None:
    checkpoints = save(tmp_path, 1, 2)
    path = checkpoints.path(1) / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match=r"step-000001.*Remove this checkpoint and those after it") as caught:
        checkpoints.mean([2, 1])
    assert str(caught.value).count(". ") <= 2


def test_checkpoints_of_different_models_are_not_averaged(tmp_path: Path) -> None:
    checkpoints = save(tmp_path, 1)
    checkpoints.save({"other": torch.zeros(1)}, MOMENTS, TrainingState(step=2))
    with pytest.raises(UserError, match="different models"):
        checkpoints.mean([2, 1])


def test_what_may_not_be_read_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = save(tmp_path, 1, 2)
    read = Path.read_bytes

    def refused(path: Path) -> bytes:
        if path.parent.name == "step-000002":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(
        PermissionError
    ):  # instead of going on from an older one, which would cost the newer one
        checkpoints.newest()
