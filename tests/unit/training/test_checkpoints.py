import logging
from pathlib import Path

import pytest
import torch

from regard.core.errors import UserError
from regard.training.checkpoints import MANIFEST, MODEL, OPTIMIZER, STATE, Checkpoints, DamagedError, verify
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
