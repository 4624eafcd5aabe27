"""A training that stops anywhere and goes on equals, bit by bit, one that never stopped."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from others import OTHERS, Other, some_of
from small import POINTERS, attention, batch, recurrent

from regard.core.batch import Batch
from regard.models import Seq2Seq
from regard.training import (
    FEEDINGS,
    SCHEDULES,
    Averaged,
    Checkpoint,
    Checkpoints,
    Coverage,
    CrossEntropy,
    ExpectedReward,
    Loop,
    Plan,
    Reinforce,
    Schedule,
    Validation,
)
from regard.training.state import Cursor

STEPS = 14
PLAN = Plan(
    steps=STEPS,
    accumulate=2,
    learning_rate=0.01,
    clip=1.0,
    precision="float32",
    log_every=3,
    validate_every=5,
    save_every=4,
    patience=None,
    higher_is_better=False,
)
SCHEDULE = SCHEDULES["inverse_sqrt"](warmup=4)


class FiveBatches:
    """Of 13, 9, 3, 13 and 9 target pieces. An epoch ends in the middle of a step's two batches."""

    def length(self, epoch: int) -> int:
        return 5

    def batch(self, epoch: int, position: int) -> Batch:
        return batch((3, 5, 2)[position % 3 :], seed=100 * epoch + position)


FIVE = FiveBatches()


@dataclass(frozen=True)
class Again:
    """The same examples, in batches that become smaller."""

    other: Other

    def length(self, epoch: int) -> int:
        return 5

    def batch(self, epoch: int, position: int) -> Batch:
        examples = self.other.examples()
        rows = [0, 1, 2, 3][position % 3 :]
        target = type(examples.target)(examples.target.items[rows], examples.target.lengths[rows])
        return Batch(some_of(examples.source, rows), target)


def model_with_dropout() -> Seq2Seq:
    """With all that draws by chance: dropout of both kinds, noise, word dropout, hard attention."""
    model = recurrent(
        look=lambda: attention("additive", "global", "hard"), layers=2, dropout=0.3, variational=True
    )
    model.decoder.embedding.noise = 0.1
    model.decoder.embedding.word_dropout = 0.1
    return model


def model_with_one_table() -> Seq2Seq:
    model = model_with_dropout()
    model.encoder.embedding.table.weight = model.decoder.embedding.table.weight
    return model


@dataclass(frozen=True)
class Kind:
    """A way to train."""

    plan: Plan = PLAN
    feeding: str = "teacher"
    model: Callable[[], Seq2Seq] = model_with_dropout
    coverage: float = 0.0
    reward: float = 0.0
    batches: FiveBatches | Again = FIVE

    @staticmethod
    def of(name: str, feeding: str = "teacher") -> "Kind":
        return Kind(feeding=feeding, model=OTHERS[name], batches=Again(OTHERS[name]))


PLAIN = Kind()
KINDS = {
    "moving average": Kind(replace(PLAN, ema=0.8)),
    "by pieces": Kind(replace(PLAN, accumulate=1, step_tokens=20)),  # two batches, or three
    "two passes": Kind(feeding="two_pass"),
    "tied": Kind(replace(PLAN, ema=0.5), model=model_with_one_table),
    "pointer": Kind(model=POINTERS["pointer, history"], coverage=1.0),
    "rewards": Kind(reward=10.0),
    "rewards of what a pointer says": Kind(model=POINTERS["pointer, history"], reward=10.0),
    "pictures": Kind.of("picture, hard"),
    "series": Kind.of("context, mixture", feeding="scheduled"),
}


def make_loop(folder: Path, *, until: int = STEPS, schedule: Schedule = SCHEDULE, kind: Kind = PLAIN) -> Loop:
    model = kind.model()
    torch.manual_seed(7)
    feeding = FEEDINGS[kind.feeding](lambda step: 1 - step / STEPS)
    loop = Loop(
        model,
        kind.batches,
        CrossEntropy(
            label_smoothing=0.1,
            feeding=feeding,
            reinforce=Reinforce(),
            penalties=[Coverage(weight=kind.coverage)] if kind.coverage else [],
            reward=ExpectedReward(weight=kind.reward, draws=2) if kind.reward else None,
        ),
        torch.optim.Adam(model.parameters(), fused=True),
        schedule,
        kind.plan,
        checkpoints=Checkpoints(folder, planned=kind.plan.saves_at),
        validate=lambda: Validation(loss=1.0 / (1 + loop.state.step), scores={}, samples=[]),
        judge=lambda validation: validation.loss,
        device=torch.device("cpu"),
        stop=lambda: "asked" if loop.state.step >= until else None,
    )
    return loop


def finish(loop: Loop) -> Loop:
    for _ in loop.run():
        pass
    return loop


def go_on(
    folder: Path,
    *,
    until: int = STEPS,
    spoil: Callable[[Checkpoint], Checkpoint] = lambda it: it,
    schedule: Schedule = SCHEDULE,
    kind: Kind = PLAIN,
) -> Loop:
    """What a new process does: fresh objects, other random numbers drawn meanwhile, the newest checkpoint."""
    loop = make_loop(folder, until=until, schedule=schedule, kind=kind)
    torch.rand(123)
    newest = loop.checkpoints.newest()
    assert newest is not None
    loop.restore(spoil(newest))
    return finish(loop)


def same_weights(one: Loop, other: Loop) -> bool:
    weights = zip(one.model.state_dict().values(), other.model.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in weights)


def same_averages(one: Loop, other: Loop) -> bool:
    if one.ema is None or other.ema is None:
        return one.ema is other.ema
    return all(torch.equal(mean, other.ema.weights[name]) for name, mean in one.ema.weights.items())


def same_baselines(one: Loop, other: Loop) -> bool:
    known, others = one.objective.state_dict(), other.objective.state_dict()
    return known.keys() == others.keys() and all(torch.equal(known[name], others[name]) for name in known)


def same(one: Loop, other: Loop) -> bool:
    moments, others = one.optimizer.state_dict()["state"], other.optimizer.state_dict()["state"]
    return (
        same_weights(one, other)
        and same_averages(one, other)
        and same_baselines(one, other)
        and moments.keys() == others.keys()
        and all(torch.equal(moments[n][name], others[n][name]) for n in moments for name in moments[n])
        and replace(one.state, seconds=0, window=replace(one.state.window, seconds=0))
        == replace(other.state, seconds=0, window=replace(other.state.window, seconds=0))
    )


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Loop:
    return finish(make_loop(tmp_path_factory.mktemp("straight")))


@pytest.mark.parametrize("step", range(1, STEPS))
def test_stopped_at_any_step_and_gone_on_it_is_the_same_training(
    step: int, tmp_path: Path, straight: Loop
) -> None:
    assert finish(make_loop(tmp_path, until=step)).state.step == step
    assert same(go_on(tmp_path), straight)


def test_stopped_after_every_single_step_it_is_the_same_training(tmp_path: Path, straight: Loop) -> None:
    finish(make_loop(tmp_path, until=1))
    for step in range(2, STEPS + 1):
        loop = go_on(tmp_path, until=step)
    assert same(loop, straight)


def test_gone_on_from_an_older_checkpoint_it_is_the_same_training(tmp_path: Path, straight: Loop) -> None:
    """As after kill -9: the steps since the last save are simply done again."""
    finish(make_loop(tmp_path, until=10))
    loop = make_loop(tmp_path)
    loop.restore(loop.checkpoints.load(8))
    assert same(finish(loop), straight)


def _without_rng(checkpoint: Checkpoint) -> Checkpoint:
    return replace(checkpoint, state=replace(checkpoint.state, rng={}))


def _without_cursor(checkpoint: Checkpoint) -> Checkpoint:
    return replace(checkpoint, state=replace(checkpoint.state, cursor=Cursor()))


def _without_optimizer(checkpoint: Checkpoint) -> Checkpoint:
    return replace(checkpoint, optimizer={})


def _without_baseline(checkpoint: Checkpoint) -> Checkpoint:
    zero = {name: torch.zeros_like(value) for name, value in checkpoint.objective.items()}
    return replace(checkpoint, objective=zero)


def _without_average(checkpoint: Checkpoint) -> Checkpoint:
    return replace(checkpoint, ema=checkpoint.model)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("step", [1, 4, 6, 13])  # saved anyway, or because it was stopped
def test_every_kind_of_training_stopped_and_gone_on_is_the_same_training(
    name: str, step: int, tmp_path: Path
) -> None:
    kind = KINDS[name]
    straight = finish(make_loop(tmp_path / "straight", kind=kind))
    assert finish(make_loop(tmp_path / "stopped", until=step, kind=kind)).state.step == step
    gone_on = go_on(tmp_path / "stopped", kind=kind)
    assert same(gone_on, straight)
    assert straight.checkpoints.steps() == gone_on.checkpoints.steps()
    for saved in straight.checkpoints.steps():
        for file in ("model.safetensors", "optimizer.safetensors"):
            one, other = (loop.checkpoints.path(saved) / file for loop in (straight, gone_on))
            assert one.read_bytes() == other.read_bytes(), (saved, file)


def test_the_comparison_notices_when_the_moving_average_is_dropped(tmp_path: Path) -> None:
    kind = KINDS["moving average"]
    straight = finish(make_loop(tmp_path / "straight", kind=kind))
    finish(make_loop(tmp_path / "stopped", until=6, kind=kind))
    gone_on = go_on(tmp_path / "stopped", spoil=_without_average, kind=kind)
    assert same_weights(gone_on, straight)
    assert not same(gone_on, straight)


def test_the_mean_of_the_newest_checkpoints_does_not_depend_on_who_stopped_when(tmp_path: Path) -> None:
    kind = Kind(replace(PLAN, average=3))
    means = []
    for name, stops in (("straight", ()), ("stopped", (11, 13))):
        for until in (*stops, STEPS):
            loop = make_loop(tmp_path / name, until=until, kind=kind)
            loop.checkpoints.keep = 3
            if newest := loop.checkpoints.newest():
                loop.restore(newest)
            last_but_one = list(loop.run())[-2]
        assert isinstance(last_but_one, Averaged)
        assert last_but_one.steps == (14, 12, 10)
        means.append(last_but_one.weights)
    assert all(torch.equal(tensor, means[1][name]) for name, tensor in means[0].items())


@pytest.mark.parametrize("spoil", [_without_rng, _without_cursor, _without_optimizer, _without_baseline])
def test_the_comparison_notices_when_part_of_the_state_is_dropped(
    spoil: Callable[[Checkpoint], Checkpoint], tmp_path: Path, straight: Loop
) -> None:
    finish(make_loop(tmp_path, until=6))
    assert not same_weights(go_on(tmp_path, spoil=spoil), straight)


def test_the_comparison_notices_when_the_schedule_starts_again(tmp_path: Path, straight: Loop) -> None:
    finish(make_loop(tmp_path, until=6))
    assert not same_weights(go_on(tmp_path, schedule=lambda step, steps: SCHEDULE(step - 6, steps)), straight)
