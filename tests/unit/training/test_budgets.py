from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
import torch
from small import batch, recurrent

from regard.core.batch import Batch
from regard.training import (
    SCHEDULES,
    Averaged,
    Budget,
    Checkpoints,
    CrossEntropy,
    Ended,
    Event,
    Loop,
    Plan,
    Progressed,
    Spent,
    Validated,
    Validation,
)

PLAN = Plan(
    steps=1000,
    accumulate=1,
    learning_rate=1.0,
    clip=None,
    precision="float32",
    log_every=1,
    validate_every=100,
    save_every=4,
    patience=None,
    higher_is_better=False,
)
PIECES = 6 + 3 + 8 + 2  # targets of one batch, with their ends


class Always:
    def length(self, epoch: int) -> int:
        return 1

    def batch(self, epoch: int, position: int) -> Batch:
        return batch()


def train(folder: Path, plan: Plan, *, stop_at: int | None = None, schedule: str = "linear") -> list[Event]:
    """Goes on from what is in the folder."""
    model = recurrent()
    checkpoints = Checkpoints(folder, planned=plan.saves_at)
    loop = Loop(
        model,
        Always(),
        CrossEntropy(),
        torch.optim.SGD(model.parameters(), lr=1.0),
        SCHEDULES[schedule](warmup=0),
        plan,
        checkpoints=checkpoints,
        validate=lambda: Validation(1 / loop.state.step, {}, []),
        judge=lambda validation: validation.loss,
        device=torch.device("cpu"),
        stop=lambda: "stopped" if stop_at is not None and loop.state.step >= stop_at else None,
    )
    if newest := checkpoints.newest():
        loop.restore(newest)
    return list(loop.run())


@pytest.fixture
def two_seconds_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0, 2)
    monkeypatch.setattr("regard.training.loop.time.perf_counter", lambda: float(next(clock)))


def ended(events: list[Event]) -> Ended:
    assert isinstance(events[-1], Ended)
    return events[-1]


@pytest.mark.parametrize(
    ("budget", "steps"),
    [
        (Budget(100), 100),
        (Budget(100, tokens=500), 50),
        (Budget(100, seconds=20), 20),
        (Budget(100, tokens=500, seconds=20), 20),
        (Budget(15, tokens=500, seconds=20), 15),
        (Budget(100, seconds=1), 11),  # never fewer than the next one
    ],
)
def test_the_steps_in_all_are_what_the_scarcest_budget_promises(budget: Budget, steps: int) -> None:
    assert budget.promised(Spent(10, tokens=100, seconds=10.0)) == steps


def test_before_the_first_step_nothing_is_known_of_the_pace() -> None:
    assert Budget(100, tokens=5, seconds=1).promised(Spent(0)) == 100


def test_a_training_by_pieces_ends_with_the_step_that_saw_the_last_of_them(tmp_path: Path) -> None:
    events = train(tmp_path, replace(PLAN, tokens=5 * PIECES - 1))
    assert ended(events) == Ended(5, "all 94 target pieces are seen", finished=True)
    assert [event.step for event in events if isinstance(event, Validated)] == [5]
    assert Checkpoints(tmp_path).steps()[-1] == 5


def test_a_training_by_the_clock_ends_validated_saved_and_averaged(
    tmp_path: Path, two_seconds_a_step: None
) -> None:
    events = train(tmp_path, replace(PLAN, seconds=12.0, average=2))
    assert ended(events) == Ended(6, "all 0.2 minutes are spent", finished=True)
    (averaged,) = (event for event in events if isinstance(event, Averaged))
    assert averaged.steps == (6, 4)


def test_the_clock_goes_on_where_it_stood(tmp_path: Path, two_seconds_a_step: None) -> None:
    plan = replace(PLAN, seconds=12.0)
    assert not ended(train(tmp_path, plan, stop_at=4)).finished
    assert ended(train(tmp_path, plan)).step == 6
    assert ended(train(tmp_path, plan)).step == 6  # over is over


@pytest.mark.parametrize("budget", [{"steps": 5}, {"tokens": 5 * PIECES}, {"seconds": 10.0}])
def test_a_schedule_falls_with_the_budget_whatever_it_is_counted_in(
    budget: dict[str, float], tmp_path: Path, two_seconds_a_step: None
) -> None:
    events = train(tmp_path, replace(PLAN, **budget))
    rates = [event.learning_rate for event in events if isinstance(event, Progressed)]
    first = 0.8 if "steps" in budget else 1.0  # of a thousand, before there is a pace
    assert rates == pytest.approx([first, 0.6, 0.4, 0.2, 0.0], abs=0.01)


def test_stopped_and_gone_on_a_training_by_pieces_is_the_same_training(tmp_path: Path) -> None:
    plan = replace(PLAN, tokens=6 * PIECES)
    train(tmp_path / "straight", plan, schedule="cosine")
    train(tmp_path / "stopped", plan, stop_at=3, schedule="cosine")
    train(tmp_path / "stopped", plan, schedule="cosine")
    straight, resumed = (Checkpoints(tmp_path / name).load(6) for name in ("straight", "stopped"))
    assert all(torch.equal(straight.model[name], resumed.model[name]) for name in straight.model)
