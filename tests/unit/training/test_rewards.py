"""The gradient of a reward: the mean over draws is the gradient of the expectation."""

import itertools
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.core.batch import Batch, Tokens
from regard.core.pieces import BEGIN, END, PAD, UNKNOWN
from regard.layers import Head
from regard.training import ExpectedReward
from regard.training.rewards import draw, gleu

A, B = 4, 5
PIECES = 6
LONGEST = 4  # twice the target's length


@pytest.mark.parametrize(
    ("said", "wanted", "reward"),
    [
        ([7, 8, 9], [7, 8, 9], 1.0),
        ([7, 8, 9], [1, 2, 3], 0.0),
        ([7, 8], [7, 9], 1 / 3),  # 7 of {7, 8, 78}
        ([7, 8, 9, 7, 8], [7, 8], 3 / 14),  # {7, 8, 78} of 5 + 4 + 3 + 2: saying more costs
        ([7], [7, 8, 9], 1 / 6),  # and so does saying less
        ([7, 7], [7], 1 / 3),  # what stands once counts once
        ([], [], 1.0),
        ([], [7], 0.0),
    ],
)
def test_a_reward_is_what_two_sequences_have_in_common(
    said: list[int], wanted: list[int], reward: float
) -> None:
    assert gleu(said, wanted) == pytest.approx(reward)


@dataclass(frozen=True)
class Unrolled:
    features: Tensor


class NoState:
    """What this model has to remember between steps, besides the piece before."""

    def select(self, rows: Tensor) -> "NoState":
        return self


class Sources:
    """Sources with nothing in them."""

    def __init__(self, count: int):
        self.mask = torch.ones(count, 1)

    def select(self, rows: Tensor) -> "Sources":
        return Sources(len(rows))


class Bigrams(nn.Module):
    """A model without a source: what comes next depends on the piece before alone."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(PIECES, PIECES, generator=torch.Generator().manual_seed(3)))
        with torch.no_grad():
            self.table[:, [PAD, BEGIN]] = -1e9  # as if never drawn: else draws are not the model's own
        self.head = Head(PIECES, PIECES)
        nn.init.eye_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self.encoder = SimpleNamespace(encode=lambda source, wanted: Sources(len(source.ids)))

    @property
    def decoder(self) -> "Bigrams":
        return self

    def begin(self, memory: Any) -> NoState:
        return NoState()

    def step(self, fed: Tensor, state: NoState) -> Any:
        return SimpleNamespace(logits=self.head(self.table[fed]), state=state)

    def unroll(self, memory: Any, fed: Tensor) -> Unrolled:
        return Unrolled(self.table[fed])


def batch_of(rows: int) -> Batch:
    target = Tokens.pad([[A, END]] * rows)
    return Batch(target, target)


def exact_gradient(model: Bigrams) -> Tensor:
    """Of the expected reward, over every answer that can be drawn."""
    logs = functional.log_softmax(model.table, dim=-1)
    total = torch.zeros(())
    possible = [1, A, B]  # unknown, A, B
    for length in range(LONGEST + 1):
        for said in itertools.product(possible, repeat=length):
            answer = (*said, END) if length < LONGEST else said
            fed = (BEGIN, *answer)
            likely = torch.stack([logs[fed[n], fed[n + 1]] for n in range(len(answer))]).sum()
            total = total - likely.exp() * gleu(said, [A])
    (gradient,) = torch.autograd.grad(total, model.table)
    return gradient


@pytest.mark.parametrize("draws", [2, 5])
def test_the_mean_of_drawn_gradients_is_the_gradient_of_the_expected_reward(draws: int) -> None:
    torch.manual_seed(0)
    model, rows = Bigrams(), 2000
    reward = ExpectedReward(weight=1.0, draws=draws)
    found = []
    for _ in range(20):
        total: Tensor = reward(model, batch_of(rows)) / rows
        (gradient,) = torch.autograd.grad(total, model.table)
        found.append(gradient)
    several = torch.stack(found)
    error = several.std(0) / len(several) ** 0.5
    exact = exact_gradient(model)
    assert exact.abs().max() > 0.01
    assert ((several.mean(0) - exact).abs() < 4.5 * error + 1e-6).all()


def test_a_draw_ends_with_its_end_mark_or_where_there_is_no_more_room() -> None:
    torch.manual_seed(0)
    model = Bigrams()
    answers = draw(model, model.encoder.encode(batch_of(50).source, frozenset()), 4, LONGEST)
    assert len(answers.ids) == 200
    assert set(answers.lengths.tolist()) == {1, 2, 3, LONGEST}
    for row, length in zip(answers.ids.tolist(), answers.lengths.tolist(), strict=True):
        assert END not in row[: length - 1]
        assert length == LONGEST or row[length - 1] == END
        assert all(piece == PAD for piece in row[length:])


def test_answers_of_one_kind_teach_nothing() -> None:
    """A draw is compared with the others for the same source."""
    model = Bigrams()
    with torch.no_grad():
        model.table[:, END] = 50.0
    (gradient,) = torch.autograd.grad(ExpectedReward()(model, batch_of(50)), model.table)
    assert gradient.abs().max() == 0


def test_an_unknown_piece_is_never_right() -> None:
    model = Bigrams()
    with torch.no_grad():
        model.table[:, [A, B]] = -1e9  # all that can be said
    target = Tokens.pad([[UNKNOWN, END]] * 50)
    (gradient,) = torch.autograd.grad(ExpectedReward()(model, Batch(target, target)), model.table)
    assert gradient.abs().max() == 0


def test_answers_are_drawn_and_judged_by_the_model_that_predicts() -> None:
    """With its dropout and drawn looks, what drew an answer would not be what is asked how likely it is."""
    torch.manual_seed(0)
    model = Bigrams()
    heard = []
    step, unroll = model.step, model.unroll
    model.step = lambda *given: (heard.append(model.training), step(*given))[1]  # type: ignore[method-assign]
    model.unroll = lambda *given: (heard.append(model.training), unroll(*given))[1]  # type: ignore[method-assign]
    ExpectedReward()(model.train(), batch_of(3))
    assert heard
    assert not any(heard)
    assert model.training


def test_no_draw_is_longer_than_an_answer_can_be() -> None:
    torch.manual_seed(0)
    model = Bigrams()
    lengths: list[int] = []
    unroll = model.unroll

    def heard(memory: Any, fed: Tensor) -> Unrolled:
        lengths.append(fed.shape[1])
        return unroll(memory, fed)

    model.unroll = heard  # type: ignore[method-assign]
    ExpectedReward(longest=3)(model, batch_of(100))
    ExpectedReward()(model, batch_of(100))
    assert max(lengths[:4]) == 3
    assert max(lengths[4:]) == LONGEST
