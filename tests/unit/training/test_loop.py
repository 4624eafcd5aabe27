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
        lambda step: 1.0,
        plan,
        checkpoints=Checkpoints(folder),
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
