"""The answer for a source does not depend on its neighbours, padding, order or batch size."""

import pytest
import torch
from small import FEW, MODELS, batch, search

from regard.core.batch import Tokens
from regard.core.kinds import CROSS, plain_kind
from regard.core.pieces import PAD
from regard.models import Seq2Seq
from regard.search import Draw, Ensemble, Groups, Hypothesis, SearchPlan

LENGTHS = (5, 2, 7, 1, 12, 3, 3, 9)
STEPS = 12  # models that have learned nothing would talk on
PLANS = {
    "greedy": SearchPlan(max_length=STEPS),
    "beam": SearchPlan(max_length=STEPS, beam=4, best=2, length_penalty=0.6),
    "coverage": SearchPlan(max_length=STEPS, beam=3, coverage=0.2, min_length=2, no_repeat=2),
    "groups": SearchPlan(max_length=STEPS, beam=4, best=4, groups=Groups(2)),
    "sampling": SearchPlan(max_length=STEPS, best=2, draw=Draw(temperature=0.8, top_p=0.95)),
}


def answers(model: Seq2Seq, source: Tokens, plan: SearchPlan) -> list[tuple[Hypothesis, ...]]:
    return search(model, source, plan)


def some_of(source: Tokens, rows: list[int]) -> Tokens:
    longest = int(source.lengths[rows].max())
    return Tokens(source.ids[rows, :longest], source.lengths[rows])


def assert_same(found: tuple[Hypothesis, ...], others: tuple[Hypothesis, ...], length: int) -> None:
    for one, other in zip(found, others, strict=True):
        assert one.tokens == other.tokens
        assert one.score == pytest.approx(other.score, abs=1e-5)
        for kind, weights in one.attention.items():
            columns = length if plain_kind(kind) == CROSS else len(one.tokens)
            torch.testing.assert_close(weights[..., :columns], other.attention[kind][..., :columns])
            assert (other.attention[kind][..., columns:] == 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_batch_size_order_and_padding_change_no_answer(name: str) -> None:
    check(MODELS[name](), PLANS["beam"])


@pytest.mark.parametrize("plan", ["greedy", "coverage", "groups", "sampling"])
@pytest.mark.parametrize("name", FEW)
def test_they_change_no_answer_of_other_searches(name: str, plan: str) -> None:
    check(MODELS[name](), PLANS[plan])


def check(model: Seq2Seq, plan: SearchPlan) -> None:
    source = batch(LENGTHS).source
    together = answers(model, source, plan)
    padded = Tokens(torch.nn.functional.pad(source.ids, (0, 6), value=PAD), source.lengths)
    order = [3, 7, 0, 5, 1, 6, 2, 4]
    for row, (length, found) in enumerate(zip(source.lengths.tolist(), together, strict=True)):
        assert_same(answers(model, some_of(source, [row]), plan)[0], found, length)
    for found, other, length in zip(
        together, answers(model, padded, plan), source.lengths.tolist(), strict=True
    ):
        assert_same(found, other, length)
    for place, other in zip(order, answers(model, some_of(source, order), plan), strict=True):
        assert_same(together[place], other, int(source.lengths[place]))


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("name", FEW)
def test_batches_of_one_two_seven_and_all_answer_alike(name: str, plan: str) -> None:
    torch.manual_seed(5)
    model, lengths = MODELS[name](), [int(length) for length in torch.randint(1, 15, (32,))]
    source = batch(tuple(lengths)).source
    everything = answers(model, source, PLANS[plan])
    shuffled = torch.randperm(32).tolist()
    for size in (1, 2, 7):
        for start in range(0, 7, size):
            rows = shuffled[start : start + size]
            for row, other in zip(rows, answers(model, some_of(source, rows), PLANS[plan]), strict=True):
                assert_same(everything[row], other, int(source.lengths[row]))


@pytest.mark.parametrize("plan", PLANS)
def test_an_ensemble_answers_alike_in_every_batch(plan: str) -> None:
    members, source = [MODELS[name]() for name in FEW[:2]], batch(LENGTHS).source
    ensemble = Ensemble(members)
    together = search(ensemble, source, PLANS[plan], memory=[source, source])
    for row, found in enumerate(together):
        alone = some_of(source, [row])
        (other,) = search(ensemble, alone, PLANS[plan], memory=[alone, alone])
        assert_same(other, found, int(source.lengths[row]))


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("name", FEW)
def test_a_model_with_itself_is_itself(name: str, plan: str) -> None:
    model, source = MODELS[name](), batch(LENGTHS).source
    alone = search(model, source, PLANS[plan])
    twice = search(Ensemble([model, model]), source, PLANS[plan], memory=[source, source])
    for found, others in zip(alone, twice, strict=True):
        for one, other in zip(found, others, strict=True):
            assert one.tokens == other.tokens
            assert one.score == pytest.approx(other.score, abs=1e-5)
