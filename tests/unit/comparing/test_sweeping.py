from pathlib import Path

import pytest
from commands import TINY

from regard.comparing.sweeping import Range, Sweep, parse_range, parse_ranges
from regard.config import load_config
from regard.core.errors import UserError
from regard.trainer import Trainer
from regard.training import Noted, Saved

pytest.importorskip("optuna")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "training.learning_rate=1e-4..1e-2:log",
            Range("training.learning_rate", 1e-4, 1e-2, by_powers=True),
        ),
        ("model.dropout=0.1..0.3", Range("model.dropout", 0.1, 0.3)),
        ("model.encoder.width=64..256", Range("model.encoder.width", 64, 256, is_whole=True)),
        ("data.train=../a.tsv,../b.tsv", Range("data.train", values=("../a.tsv", "../b.tsv"))),
        ("model.dropout=0.1, 0.3", Range("model.dropout", values=("0.1", "0.3"))),
        (
            "training.betas=[0.9,0.98],[0.9,0.999]",
            Range("training.betas", values=("[0.9,0.98]", "[0.9,0.999]")),
        ),
    ],
)
def test_a_range_is_two_ends_or_several_values(text: str, expected: Range) -> None:
    assert parse_range(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a=",
        "=1..2",
        "a=2..1",
        "a=0..1:log",
        "a=1..2:cube",
        "a=x..y",
        "a=1,,2",
        "a=1,1",
        "a=..3",
        "a=1..inf",
        "a=nan..2",
    ],
)
def test_another_range_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UserError, match=r"such as training.learning_rate=1e-4..1e-2:log"):
        parse_range(text)


def test_a_setting_that_is_given_twice_is_refused() -> None:
    with pytest.raises(UserError, match="--over a is given twice"):
        parse_ranges(["a=1..2", "b=1..2", "a=3..4"])


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    path = tmp_path / "tiny.toml"
    path.write_text(
        TINY.replace("steps = 24", "steps = 4").replace("validate_every = 8", "validate_every = 2")
    )
    return str(path)


RATES = Range("training.learning_rate", 1e-4, 1e-1, by_powers=True)


def sweep(tiny: str, *ranges: Range) -> Sweep:
    return Sweep(tiny, (), ranges or [RATES], Path(tiny).parent / "sweep")


def test_the_best_trial_is_written_as_a_configuration(tiny: str) -> None:
    search = sweep(tiny)
    list(search.run(2))
    first, second = search.trials()
    assert first.settings != second.settings
    best = search.best()
    assert best is not None
    assert best.value == min(first.value or 0, second.value or 0)  # the loss decides
    written = load_config(search.folder / "best.toml")
    assert repr(written.training.learning_rate) == best.settings["training.learning_rate"]
    assert list(search.run(2)) == []  # so many in all, not so many more


def test_a_trial_that_was_broken_off_goes_on_from_its_checkpoint(tiny: str) -> None:
    events = sweep(tiny).run(1)
    for tried in events:
        if isinstance(tried.event, Saved):
            break
    events.close()  # as if its process had died
    again = sweep(tiny)
    told = [tried.event.text for tried in again.run(1) if isinstance(tried.event, Noted)]
    assert "going on from step 2" in told
    (trial,) = again.trials()
    assert (trial.number, trial.outcome, trial.settings) == (0, "complete", tried.settings)


def test_a_trial_that_lags_behind_is_given_up(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import optuna

    monkeypatch.setattr(optuna.trial.Trial, "should_prune", lambda trial: True)
    search = sweep(tiny)
    list(search.run(1))
    assert [(one.outcome, one.value) for one in search.trials()] == [("pruned", None)]
    assert search.best() is None
    assert not (search.folder / "best.toml").exists()


def test_settings_that_do_not_go_together_fail_alone(tiny: str) -> None:
    search = sweep(tiny, Range("model.attention.score", values=("dot",)))  # its widths differ
    list(search.run(1))
    assert [one.outcome for one in search.trials()] == ["fail"]


def test_what_every_trial_meets_ends_the_sweep(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(trainer: Trainer) -> None:
        raise UserError("pairs.tsv is not there.")

    monkeypatch.setattr(Trainer, "events", missing)
    search = sweep(tiny)
    with pytest.raises(UserError, match=r"pairs\.tsv"):
        list(search.run(20))
    assert [one.outcome for one in search.trials()] == ["fail"]  # the second is tried again another time


@pytest.mark.parametrize(
    ("error", "own"),
    [
        (MemoryError(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("a mistake in the program"), False),
    ],
)
def test_a_trial_that_is_too_large_fails_alone(
    tiny: str, monkeypatch: pytest.MonkeyPatch, error: Exception, own: bool
) -> None:
    def fails(trainer: Trainer) -> None:
        raise error

    monkeypatch.setattr(Trainer, "events", fails)
    search = sweep(tiny)
    if not own:
        with pytest.raises(type(error)):
            list(search.run(1))
    else:
        list(search.run(1))
        assert [one.outcome for one in search.trials()] == ["fail"]


def test_a_full_disk_ends_the_sweep_and_the_trial_is_tried_again(
    tiny: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(trainer: Trainer) -> None:
        raise UserError("The checkpoint can't be saved.") from OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "events", full)
        with pytest.raises(UserError, match="can't be saved"):
            list(sweep(tiny).run(1))
    search = sweep(tiny)
    list(search.run(1))
    assert [one.outcome for one in search.trials()] == ["complete"]


def test_two_processes_do_not_sweep_in_one_folder(tiny: str) -> None:
    events = sweep(tiny).run(1)
    next(events)
    with pytest.raises(UserError, match="is training here already"):
        next(sweep(tiny).run(1))
    events.close()


def test_a_sweep_over_other_settings_needs_another_folder(tiny: str) -> None:
    sweep(tiny)
    with pytest.raises(UserError, match=r"has a sweep over other settings.*\(--over\)"):
        sweep(tiny, Range("training.clip", values=("0", "1")))
    with pytest.raises(UserError, match=r"training.clip: 1.0 -> 3.0"):
        Sweep(tiny, ["training.clip=3"], [RATES], Path(tiny).parent / "sweep")


def test_a_sweep_of_an_earlier_version_goes_on_as_it_began(tiny: str) -> None:
    """Settings that it does not know yet have the values that they then had."""
    search = sweep(tiny)
    asked = search.study.user_attrs["asked"]
    older = "\n".join(line for line in asked["config"].splitlines() if "embedding_scale" not in line)
    assert older != asked["config"]
    search.study.set_user_attr("asked", {**asked, "config": older})
    assert sweep(tiny).base == search.base


def test_trials_are_not_compared_with_those_of_other_pairs(tiny: str) -> None:
    list(sweep(tiny).run(1))
    search = sweep(tiny)
    search.study.set_user_attr("pairs", {**search.study.user_attrs["pairs"], "validation": "others"})
    with pytest.raises(UserError, match="The validation pairs are not the ones that this sweep began with"):
        list(search.run(2))
    assert search.over() == 1  # the trial goes on another time


def test_a_sweep_over_the_data_has_other_pairs_in_every_trial(tiny: str) -> None:
    search = sweep(tiny, Range("data.validation_size", values=("8", "9")))
    list(search.run(3))
    assert [one.outcome for one in search.trials()] == ["complete"] * 3


def test_an_unknown_setting_is_told_before_anything_is_tried(tiny: str) -> None:
    with pytest.raises(UserError, match=r"unknown setting 'training.lerning_rate'"):
        sweep(tiny, Range("training.lerning_rate", 0.1, 1.0))


@pytest.mark.parametrize("content", [b"nothing of the kind" * 300, None])
def test_a_damaged_record_is_told_and_left_alone(tiny: str, content: bytes | None) -> None:
    folder = Path(tiny).parent / "sweep"
    list(Sweep(tiny, (), [parse_range("training.clip=1..2")], folder).run(1))
    record = folder / "sweep.db"
    record.write_bytes(content or record.read_bytes()[:5000])
    damaged = record.read_bytes()
    with pytest.raises(UserError, match=r"sweep.db cannot be read: .*Take it from a copy"):
        Sweep(tiny, (), [parse_range("training.clip=1..2")], folder)
    assert record.read_bytes() == damaged
