"""Several processes, each with a share of every batch, take the steps that one takes. Here they are threads."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from small import POINTERS, batch, recurrent, stream, transformer
from torch import Tensor

from regard.core.batch import Batch, Tokens
from regard.core.errors import UserError
from regard.core.state import Choice
from regard.layers import Dropout, SequenceDropout
from regard.models import Seq2Seq
from regard.training import (
    ALONE,
    SCHEDULES,
    Checkpoints,
    Coverage,
    CrossEntropy,
    DoublyStochastic,
    LookPenalty,
    Loop,
    LostError,
    Plan,
    Progressed,
    Ranks,
    Reinforce,
    Validation,
)

PLAN = Plan(
    steps=6,
    accumulate=2,
    learning_rate=0.01,
    clip=0.5,
    precision="float32",
    log_every=1,
    validate_every=100,
    save_every=100,
    patience=None,
    higher_is_better=False,
)


class Meeting:
    """Where threads add up what each brings."""

    def __init__(self, count: int):
        self.count = count
        self.all_here = threading.Barrier(count)
        self.brought: list[Tensor] = [torch.empty(0)] * count

    def total(self, number: int, own: Tensor) -> Tensor:
        self.brought[number] = own.detach().clone()
        self.all_here.wait(60)
        summed = torch.stack(self.brought).sum(0, dtype=own.dtype)
        self.all_here.wait(60)
        return summed

    def each(self, work: Callable[[Ranks], Any]) -> list[Any]:
        """What every one of them makes of it."""

        def begun(number: int) -> Any:
            try:
                return work(Ranks(number, self.count, partial(self.total, number)))
            except BaseException:
                self.all_here.abort()  # or the others would wait for it
                raise

        with ThreadPoolExecutor(self.count) as threads:
            return [one.result() for one in [threads.submit(begun, number) for number in range(self.count)]]


@dataclass(frozen=True)
class Shared:
    """Batches of rows of these lengths; of one, too few for all."""

    lengths: Sequence[tuple[int, ...]]
    ranks: Ranks

    def length(self, epoch: int) -> int:
        return len(self.lengths)

    def batch(self, epoch: int, position: int) -> Batch:
        lengths = self.lengths[position]
        whole = batch(lengths, seed=10 * epoch + position)
        rows, copies = self.ranks.share(range(len(lengths)))
        assert isinstance(whole.source, Tokens)
        return Batch(some(whole.source, rows), some(whole.target, rows), copies)


def some(tokens: Any, rows: Sequence[int]) -> Tokens:
    lengths = tokens.lengths[list(rows)]
    return Tokens(tokens.ids[list(rows), : int(lengths.max())], lengths)


@dataclass(frozen=True)
class Kind:
    model: Callable[[], Seq2Seq]
    penalties: Sequence[LookPenalty] = ()
    plan: Plan = PLAN
    lengths: Sequence[tuple[int, ...]] = ((5, 2, 7, 1), (3, 6, 2), (4,))


# The work of experts is counted over all that they are fed: the end mark too, of rows that are not the longest.
ALIKE = ((5, 5, 5, 5), (3, 3, 3), (4,))
KINDS = {
    "recurrent": Kind(recurrent),
    "transformer": Kind(transformer),
    "experts that share their work": Kind(lambda: stream("experts=4", "balance=1.0"), lengths=ALIKE),
    "coverage": Kind(POINTERS["pointer, history"], [Coverage()]),
    "doubly stochastic": Kind(recurrent, [DoublyStochastic()]),
    "steps by pieces": Kind(recurrent, plan=replace(PLAN, accumulate=1, step_tokens=25)),
    "moving average": Kind(recurrent, plan=replace(PLAN, ema=0.8)),
}


def trained(
    folder: Path, kind: Kind, begun: Seq2Seq, ranks: Ranks
) -> tuple[list[Progressed], dict[str, Tensor]]:
    model = deepcopy(begun)
    objective = CrossEntropy(label_smoothing=0.1, penalties=kind.penalties, ranks=ranks)
    loop = Loop(
        model,
        Shared(kind.lengths, ranks),
        objective,
        torch.optim.SGD(model.parameters(), lr=1.0, weight_decay=0.1),
        SCHEDULES["constant"](warmup=0),
        kind.plan,
        checkpoints=Checkpoints(folder),
        validate=lambda: Validation(loss=1.0, scores={}, samples=[]),
        judge=lambda validation: validation.loss,
        device=torch.device("cpu"),
        ranks=ranks,
    )
    events = list(loop.run())
    weights = model.state_dict() if loop.ema is None else loop.ema.weights
    return [event for event in events if isinstance(event, Progressed)], weights


def without_chance(model: Seq2Seq) -> Seq2Seq:
    for module in model.modules():
        if isinstance(module, Dropout | SequenceDropout):
            module.rate = 0.0
    return model


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", KINDS)
def test_several_processes_take_the_steps_that_one_takes(name: str, count: int, tmp_path: Path) -> None:
    """Losses, norms, counts and weights."""
    model = without_chance(KINDS[name].model())
    alone, weights = trained(tmp_path / "alone", KINDS[name], model, ALONE)
    several = Meeting(count).each(partial(trained, tmp_path / "together", KINDS[name], model))
    for steps, others in several:
        assert [one.tokens for one in steps] == [one.tokens for one in alone]
        for figure in ("loss", "gradient_norm"):
            told = [getattr(one, figure) for one in steps]
            assert told == pytest.approx([getattr(one, figure) for one in alone], rel=1e-4), figure
        for name, weight in weights.items():
            torch.testing.assert_close(others[name], weight, rtol=1e-4, atol=1e-5)
    for name, weight in several[0][1].items():
        assert all(torch.equal(weight, others[name]) for _, others in several)


def test_the_baseline_of_hard_attention_is_the_mean_over_all_processes() -> None:
    likelihoods = torch.tensor([-3.0, -1.0, -2.5, -0.5, -4.0])

    def baseline(ranks: Ranks) -> float:
        own = likelihoods[ranks.number :: ranks.count]
        choice = Choice(torch.zeros(1, 1, len(own)), torch.zeros(1, 1, len(own)))
        reinforce = Reinforce(memory=0.0, ranks=ranks)
        reinforce(own, choice, torch.ones(1, len(own), dtype=torch.bool))
        return float(reinforce.baseline)

    assert Meeting(2).each(baseline) == pytest.approx([-2.2, -2.2])
    assert torch.equal(ALONE.mean(likelihoods), likelihoods.mean())


def test_what_is_usual_for_a_piece_is_told_by_all_processes() -> None:
    likelihoods, pieces = torch.tensor([-3.0, -1.0, -2.0, -5.0]), torch.tensor([4, 4, 4, 6])

    def usual(ranks: Ranks) -> list[float]:
        own = slice(ranks.number, None, ranks.count)
        choice = Choice(torch.zeros(1, 1, len(pieces[own])), torch.zeros(1, 1, len(pieces[own])))
        reinforce = Reinforce(ranks=ranks)
        mask = torch.ones(1, len(pieces[own]), dtype=torch.bool)
        reinforce(likelihoods[own], choice, mask, pieces[own])
        return [float(reinforce.sums[4]), float(reinforce.counts[4]), float(reinforce.sums[6])]

    assert Meeting(2).each(usual) == [[-6.0, 3.0, -5.0]] * 2


def test_a_gradient_that_only_one_has_is_everybodys_and_one_that_nobody_has_stays_none() -> None:
    def added(ranks: Ranks) -> list[Tensor | None]:
        mine, ours, nobodys = (torch.nn.Parameter(torch.zeros(2)) for _ in range(3))
        if ranks.is_first:
            mine.grad = torch.tensor([1.0, 2.0])
        ours.grad = torch.tensor([3.0, float(ranks.number)])
        ranks.add_up([mine, nobodys, ours])
        return [one.grad if one.grad is None else one.grad.tolist() for one in (mine, ours, nobodys)]

    assert Meeting(2).each(added) == 2 * [[[1.0, 2.0], [6.0, 1.0], None]]


def test_a_share_is_every_nth_row_and_too_few_rows_are_everybodys() -> None:
    first, second = (Ranks(number, 2) for number in range(2))
    assert first.share([9, 8, 7]) == ([9, 7], 1)
    assert second.share([9, 8, 7]) == ([8], 1)
    assert second.share([9]) == ([9], 2)
    assert ALONE.share([9, 8]) == ([9, 8], 1)


def test_work_is_spread_and_comes_back_in_order() -> None:
    def work(ranks: Ranks) -> list[str]:
        return ranks.spread(["a", "b", "ü", "d", "€"], lambda some: [2 * one for one in some])

    assert Meeting(3).each(work) == 3 * [["aa", "bb", "üü", "dd", "€€"]]
    assert Meeting(3).each(lambda ranks: ranks.spread([1.5], list)) == 3 * [[1.5]]
    assert ALONE.spread([1, 2], list) == [1, 2]


def test_what_one_asks_all_hear() -> None:
    assert Meeting(2).each(lambda ranks: ranks.any("stop" if ranks.number == 1 else None)) == 2 * ["stop"]
    assert Meeting(2).each(lambda ranks: ranks.any(None)) == [None, None]


def test_the_first_goes_ahead_and_works_once() -> None:
    done: list[str] = []

    def work(ranks: Ranks) -> None:
        with ranks.turn():
            done.append(f"turn of {ranks.number}")
        ranks.once(lambda: done.append("once"))
        assert "once" in done

    Meeting(3).each(work)
    assert done[0] == "turn of 0"
    assert sorted(done) == ["once", "turn of 0", "turn of 1", "turn of 2"]


def test_all_begin_with_the_weights_of_the_first_and_draw_apart() -> None:
    seeds = iter([3, 4])

    def begun(ranks: Ranks) -> tuple[Tensor, ...]:
        layer = torch.nn.Linear(2, 2)
        with torch.no_grad():
            layer.weight.fill_(next(seeds))
        ranks.begin_alike(layer)
        return layer.weight.detach().clone(), layer.bias.detach().clone()

    (one, bias), (other, other_bias) = Meeting(2).each(begun)
    assert torch.equal(one, other)
    assert torch.equal(bias, other_bias)
    torch.manual_seed(1)
    ALONE.draw_apart(1)
    first = torch.rand(1)
    Ranks(1, 2).draw_apart(1)
    assert not torch.equal(torch.rand(1), first)


def test_an_error_of_all_is_said_once_and_a_loss_not_after_another_error() -> None:
    said: dict[str, int] = {}

    def calls(name: str) -> int:
        said[name] = said.get(name, 0) + 1
        return said[name]

    one, other = (Ranks(number, 2, calls=calls) for number in range(2))
    assert other.may_say(UserError("no file"))
    assert not one.may_say(UserError("no file"))
    assert not one.may_say(LostError("gone"))
    assert one.may_say(UserError("another file"))
    said.clear()
    assert one.may_say(LostError("gone"))
    assert not other.may_say(LostError("gone"))
