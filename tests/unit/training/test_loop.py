import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from small import batch, recurrent

from regard.core.batch import Batch, Tokens
from regard.core.errors import UserError
from regard.models import Seq2Seq
from regard.training import (
    Averaged,
    Checkpoints,
    CrossEntropy,
    Ended,
    Event,
    Loop,
    Plan,
    Progressed,
    Saved,
    Validated,
    Validation,
)

PLAN = Plan(
    steps=6,
    accumulate=1,
    learning_rate=0.01,
    clip=None,
    precision="float32",
    log_every=2,
    validate_every=3,
    save_every=100,
    patience=None,
    higher_is_better=False,
)


class Repeated:
    """An epoch of the given batches."""

    def __init__(self, *batches: Batch):
        self.batches = batches

    def length(self, epoch: int) -> int:
        return len(self.batches)

    def batch(self, epoch: int, position: int) -> Batch:
        return self.batches[position]


def make(
    folder: Path,
    plan: Plan = PLAN,
    *,
    model: Seq2Seq | None = None,
    batches: Repeated | None = None,
    losses: Callable[[int], float] = lambda step: 1 / step,
    optimizer: type[torch.optim.Optimizer] = torch.optim.Adam,
) -> Loop:
    model = model or recurrent()
    loop = Loop(
        model,
        batches or Repeated(batch()),
        CrossEntropy(),
        optimizer(model.parameters(), lr=1.0),  # type: ignore[call-arg]
        lambda step, steps: 1.0,
        plan,
        checkpoints=Checkpoints(folder, keep=max(2, plan.average)),
        validate=lambda: Validation(losses(loop.state.step), {}, []),
        judge=lambda validation: validation.loss,
        device=torch.device("cpu"),
    )
    return loop


def kinds(events: list[Event]) -> list[str]:
    return [f"{type(event).__name__} {event.step}" for event in events if not isinstance(event, str)]


def test_events_come_in_the_order_in_which_things_happen(tmp_path: Path) -> None:
    assert kinds(list(make(tmp_path).run())) == [
        "Progressed 2",
        "Validated 3",
        "Saved 3",
        "Progressed 4",
        "Progressed 6",
        "Validated 6",
        "Saved 6",
        "Ended 6",
    ]


def test_a_training_that_dies_while_it_validates_goes_on_with_that_validation(tmp_path: Path) -> None:
    straight = make(tmp_path / "straight")
    list(straight.run())

    def die(step: int) -> float:
        raise MemoryError

    with pytest.raises(MemoryError):
        list(make(tmp_path / "died", losses=die).run())
    again = make(tmp_path / "died")
    newest = again.checkpoints.newest()
    assert newest is not None
    assert newest.state.validating
    assert PLAN.over(replace(newest.state, step=6)) is None  # also where no step is left
    again.restore(newest)
    assert kinds(list(again.run()))[:3] == ["Validated 3", "Saved 3", "Progressed 4"]
    for step in (3, 6):
        one, other = (loop.checkpoints.load(step) for loop in (straight, again))
        timeless = [replace(each.state, seconds=0, window=None) for each in (one, other)]  # type: ignore[arg-type]
        assert timeless[0] == timeless[1]
        assert equal(one.model, other.model)


def test_a_checkpoint_that_is_gone_when_it_is_validated_is_made_again(tmp_path: Path) -> None:
    def clear(step: int) -> float:
        shutil.rmtree(loop.checkpoints.path(step))
        return 1.0

    loop = make(tmp_path, losses=clear)
    list(loop.run())
    assert loop.checkpoints.steps() == [3, 6]
    assert not loop.checkpoints.load(6).state.validating


def test_the_loss_falls_when_one_batch_is_seen_again_and_again(tmp_path: Path) -> None:
    events = list(make(tmp_path, replace(PLAN, steps=60, log_every=20, validate_every=100)).run())
    losses = [event.loss for event in events if isinstance(event, Progressed)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 3


def test_accumulated_batches_step_as_one_batch_of_all_their_pairs(tmp_path: Path) -> None:
    """Weighed by their tokens, not by their number."""
    first, second = batch((5, 2)), batch((7,), seed=3)
    both = Batch(
        Tokens.pad([row[row != 0].tolist() for part in (first, second) for row in part.source.ids]),
        Tokens.pad([row[row != 0].tolist() for part in (first, second) for row in part.target.ids]),
    )
    models = []
    for name, batches, accumulate in (("two", Repeated(first, second), 2), ("one", Repeated(both), 1)):
        plan = replace(PLAN, steps=1, accumulate=accumulate, learning_rate=0.1)
        loop = make(tmp_path / name, plan, batches=batches, optimizer=torch.optim.SGD)
        list(loop.run())
        models.append(loop.model)
    for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_the_gradient_is_clipped_to_the_norm_asked_for(tmp_path: Path) -> None:
    plan = replace(PLAN, steps=1, learning_rate=1.0, clip=0.01)
    model = recurrent()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    list(make(tmp_path, plan, model=model, optimizer=torch.optim.SGD).run())
    moved = [(b.detach() - a).flatten() for a, b in zip(before, model.parameters(), strict=True)]
    assert float(torch.cat(moved).norm()) == pytest.approx(0.01, rel=1e-3)


def test_it_stops_when_patience_runs_out_and_keeps_the_best(tmp_path: Path) -> None:
    losses = {1: 3.0, 2: 1.0, 3: 2.0, 4: 1.5, 5: 0.5, 6: 0.4}
    plan = replace(PLAN, validate_every=1, patience=2)
    loop = make(tmp_path, plan, losses=losses.__getitem__)
    events = list(loop.run())
    assert [event.is_best for event in events if isinstance(event, Validated)] == [True, True, False, False]
    ended = events[-1]
    assert isinstance(ended, Ended)
    assert ended.step == 4
    assert ended.finished
    assert loop.state.best is not None
    assert loop.state.best.step == 2
    assert loop.checkpoints.steps() == [2, 3, 4]
    last = [event for event in events if isinstance(event, Progressed)][-1]
    assert (last.step, last.tokens) == (4, loop.state.tokens)  # also where no line of the log was due
    again = make(tmp_path, plan, losses=losses.__getitem__)
    again.restore(again.checkpoints.newest())
    assert [type(event) for event in again.run()] == [Ended]


def test_of_two_equal_validations_the_lower_loss_is_best(tmp_path: Path) -> None:
    plan = replace(PLAN, validate_every=1, higher_is_better=True)
    loop = make(tmp_path, plan, losses=lambda step: 1 / step)
    loop.judge = lambda validation: 100.0
    list(loop.run())
    assert loop.state.best is not None
    assert loop.state.best.step == 6


def test_a_training_that_diverges_says_so_and_keeps_its_checkpoint(tmp_path: Path) -> None:
    model = recurrent()
    loop = make(tmp_path, model=model)
    events = loop.run()
    assert any(isinstance(event, Saved) for event in (next(events) for _ in range(3)))
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    with pytest.raises(UserError, match=r"diverged at step 4.*learning_rate"):
        list(events)
    assert loop.checkpoints.newest() is not None


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_lower_precision_learns_too_and_resumes_with_its_scale(precision: str, tmp_path: Path) -> None:
    plan = replace(PLAN, precision=precision, steps=40, validate_every=20, log_every=20)
    loop = make(tmp_path, plan)
    events = list(loop.run())
    losses = [event.loss for event in events if isinstance(event, Progressed)]
    assert losses[1] < losses[0]
    again = make(tmp_path, replace(plan, steps=41))
    newest = again.checkpoints.newest()
    assert newest is not None
    again.restore(newest)
    assert again.scaler.state_dict() == loop.scaler.state_dict()
    assert (precision == "float16") == bool(newest.state.scaler)


def snapshot(model: Seq2Seq) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def every_step(loop: Loop) -> list[dict[str, torch.Tensor]]:
    """The weights after each step. The plan says something at every one."""
    return [snapshot(loop.model) for event in loop.run() if isinstance(event, Progressed)]


def test_the_moving_average_is_the_weighted_mean_of_all_steps_and_is_what_is_saved_for_the_model(
    tmp_path: Path,
) -> None:
    plan = replace(PLAN, ema=0.7, log_every=1)
    loop = make(tmp_path, plan)
    taken = every_step(loop)
    saved = loop.checkpoints.weights(6)
    shares = [0.7 ** (6 - step) for step in range(1, 7)]
    for name, tensor in saved.items():
        by_hand = sum(share * weights[name].double() for share, weights in zip(shares, taken, strict=True))
        torch.testing.assert_close(tensor, (by_hand / sum(shares)).float(), rtol=1e-5, atol=1e-6)
    assert equal(loop.checkpoints.load(6).model, taken[-1])
    assert not equal(saved, taken[-1])


def test_validation_sees_the_moving_average_and_training_never_does(tmp_path: Path) -> None:
    plan = replace(PLAN, ema=0.7, log_every=1)
    loop = make(tmp_path / "ema", plan)
    seen = []
    loop.validate = lambda: seen.append(snapshot(loop.model)) or Validation(1 / loop.state.step, {}, [])
    taken = every_step(loop)
    assert equal(seen[0], loop.checkpoints.weights(3))
    assert equal(seen[1], loop.checkpoints.weights(6))
    without = every_step(make(tmp_path / "plain", replace(PLAN, log_every=1)))
    for one, other in zip(taken, without, strict=True):
        assert equal(one, other)


def test_a_checkpoint_without_the_moving_average_asked_for_is_refused(tmp_path: Path) -> None:
    list(make(tmp_path).run())
    loop = make(tmp_path, replace(PLAN, ema=0.9))
    newest = loop.checkpoints.newest()
    assert newest is not None
    with pytest.raises(UserError, match=r"no moving average.*training.ema is 0.9"):
        loop.restore(newest)


class Counting(Repeated):
    """Remembers which batches were asked for."""

    def __init__(self, *batches: Batch):
        super().__init__(*batches)
        self.asked: list[tuple[int, int]] = []

    def batch(self, epoch: int, position: int) -> Batch:
        self.asked.append((epoch, position))
        return super().batch(epoch, position)


def test_batches_are_taken_until_the_step_has_its_pieces(tmp_path: Path) -> None:
    """Batches of 4, 7 and 2 target pieces: 10 are reached by 4 + 7, by 2 + 4 + 7, by 2 + 4 + 7 ..."""
    batches = Counting(batch((3,)), batch((6,)), batch((1,)))
    loop = make(tmp_path, replace(PLAN, steps=3, step_tokens=10, log_every=1), batches=batches)
    tokens = [event.tokens for event in loop.run() if isinstance(event, Progressed)]
    assert tokens == [11, 24, 37]
    assert batches.asked == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]


def test_a_batch_with_enough_pieces_is_a_step_of_its_own(tmp_path: Path) -> None:
    batches = Counting(batch((3,)), batch((3,)))
    list(make(tmp_path, replace(PLAN, steps=2, step_tokens=4), batches=batches).run())
    assert batches.asked == [(0, 0), (0, 1)]


def test_a_step_by_pieces_equals_one_that_counts_the_same_batches(tmp_path: Path) -> None:
    models = []
    for name, plan in (("two", replace(PLAN, accumulate=2)), ("pieces", replace(PLAN, step_tokens=14))):
        loop = make(tmp_path / name, plan, batches=Repeated(batch((5, 2)), batch((7,), seed=3)))
        list(loop.run())
        models.append(snapshot(loop.model))
    assert equal(*models)


AVERAGING = replace(PLAN, average=3, save_every=2, log_every=1)  # saves at 2, 3, 4 and 6


def test_the_mean_of_the_newest_checkpoints_is_validated_before_the_end(tmp_path: Path) -> None:
    loop = make(tmp_path, AVERAGING)
    seen = []
    loop.validate = lambda: seen.append(snapshot(loop.model)) or Validation(1 / len(seen), {}, [])
    *_, averaged, ended = events = list(loop.run())
    assert isinstance(averaged, Averaged)
    assert isinstance(ended, Ended)
    assert (averaged.step, averaged.steps, averaged.best) == (6, (6, 4, 3), 6)
    assert averaged.is_best
    for name, tensor in averaged.weights.items():
        saved = [loop.checkpoints.load(step).model[name].double() for step in (3, 4, 6)]
        torch.testing.assert_close(tensor, (sum(saved) / 3).float(), rtol=1e-6, atol=1e-7)
    assert equal(seen[-1], dict(averaged.weights))
    assert equal(snapshot(loop.model), loop.checkpoints.load(6).model)  # the model has its own again
    assert sum(isinstance(event, Averaged) for event in events) == 1


@pytest.mark.parametrize("loss", [0.2, 0.3, float("nan")])
def test_a_mean_that_is_not_better_than_the_best_is_not_best(loss: float, tmp_path: Path) -> None:
    losses = iter([0.2, 0.5, loss])
    loop = make(tmp_path, AVERAGING, losses=lambda step: next(losses))
    averaged = list(loop.run())[-2]
    assert isinstance(averaged, Averaged)
    assert not averaged.is_best
    assert averaged.best == 3


def test_a_training_that_ends_by_patience_is_averaged_and_one_that_is_stopped_is_not(tmp_path: Path) -> None:
    plan = replace(AVERAGING, validate_every=1, patience=2, save_every=100)
    ended = list(make(tmp_path / "patience", plan, losses=lambda step: float(step)).run())
    averaged = ended[-2]
    assert isinstance(averaged, Averaged)
    assert averaged.steps == (3, 2, 1)
    loop = make(tmp_path / "stopped", plan)
    loop.stop = lambda: "asked" if loop.state.step == 2 else None
    assert not any(isinstance(event, Averaged) for event in loop.run())


def test_a_finished_training_gone_on_gives_the_same_mean(tmp_path: Path) -> None:
    first = list(make(tmp_path, AVERAGING).run())[-2]
    again = make(tmp_path, AVERAGING)
    newest = again.checkpoints.newest()
    assert newest is not None
    again.restore(newest)
    assert again.will_average
    events = list(again.run())
    assert kinds(events) == ["Averaged 6", "Ended 6"]
    assert isinstance(first, Averaged)
    assert isinstance(events[0], Averaged)
    assert equal(dict(first.weights), dict(events[0].weights))


def test_a_missing_checkpoint_is_not_left_out_of_the_mean_silently(tmp_path: Path) -> None:
    loop = make(tmp_path, AVERAGING)
    events = loop.run()
    while not isinstance(event := next(events), Saved) or event.step < 6:
        pass
    (loop.checkpoints.path(4) / "manifest.json").unlink()
    with pytest.raises(UserError, match=r"step-000004.*train on"):
        list(events)
