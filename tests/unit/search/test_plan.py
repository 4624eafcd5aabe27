import math
from dataclasses import replace

import pytest
import torch
from tables import TableStepper

from regard.core.pieces import BEGIN, END, PAD, UNKNOWN
from regard.search import Draw, Groups, Prefix, Question, SearchPlan


@pytest.mark.parametrize(
    ("length", "ratio", "most", "limit"),
    [
        (5, 3.0, 200, 25),
        (5, 0.5, 200, 12),
        (100, 3.0, 200, 200),
        (7, 1e300, 200, 200),
        (7, math.inf, 200, 200),
        (10**6, 1000.0, 100_000, 100_000),
        (0, 3.0, 1, 1),
        (16_777_217, 1.0, 10**9, 16_777_227),  # one more than float32 can count to
    ],
)
def test_the_limit_of_a_row_follows_its_length_and_the_plan(
    length: int, ratio: float, most: int, limit: int
) -> None:
    assert SearchPlan(max_ratio=ratio, max_length=most).limit(Question(length)) == limit


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("ratio", [1e-9, 1e300])
def test_every_row_is_answered_however_odd_the_plan(beam: int, ratio: float) -> None:
    stepper = TableStepper(torch.zeros(3, 6, 6, 6))
    plan = SearchPlan(beam=beam, max_ratio=ratio, max_length=1)
    questions = [Question(length) for length in (4, 0, 1000)]
    answers = plan(stepper, torch.arange(3), questions, torch.ones(3, 1000, dtype=torch.bool))
    assert [len(answer.hypotheses[0].tokens) for answer in answers] == [1, 1, 1]


PLANS = {
    "greedy": SearchPlan(),
    "beam": SearchPlan(beam=3, best=3),
    "beam, recorded": SearchPlan(beam=3, record=True),
    "groups": SearchPlan(beam=4, best=4, groups=Groups(2)),
    "sampling": SearchPlan(best=20, draw=Draw()),
    "cold sampling": SearchPlan(draw=Draw(top_k=1)),
    "long enough": SearchPlan(beam=2, min_length=3),
}


@pytest.mark.parametrize("name", PLANS)
def test_padding_and_the_beginning_are_never_said_and_nothing_gets_likelier_by_that(name: str) -> None:
    plan = replace(PLANS[name], max_length=5, likeliest=2)
    stepper = TableStepper.random(2, vocabulary=7, seed=4)
    stepper.tables[..., [PAD, BEGIN]] += 20.0  # a model that would say little else
    stepper.tables = torch.log_softmax(stepper.tables, dim=-1)
    questions = [Question(4, bytes([number])) for number in range(2)]
    found = plan(stepper, torch.arange(2), questions, torch.ones(2, 4, dtype=torch.bool))
    for source, some in enumerate(found):
        assert some.hypotheses
        for one in some.hypotheses:
            assert not {PAD, BEGIN} & set(one.tokens)
            fed = (0, BEGIN, *one.tokens)
            told = [stepper.tables[source, fed[n], fed[n + 1]] for n in range(len(one.tokens))]
            own = [float(step[piece]) for step, piece in zip(told, one.tokens, strict=True)]
            assert one.steps == pytest.approx(own, abs=1e-5)
            for step, likeliest in zip(told, one.likeliest, strict=True):
                assert {piece for piece, _ in likeliest} == {PAD, BEGIN}
                expected = step[[PAD, BEGIN]].sort(descending=True).values.tolist()
                assert [score for _, score in likeliest] == pytest.approx(expected, abs=1e-5)
        if some.tree is not None:
            assert not {PAD, BEGIN} & {node.piece for node in some.tree.nodes}


def test_the_end_is_not_compared_with_what_is_never_said() -> None:
    tables = (
        torch.tensor([0.5, 0.0, 0.2, 0.2, 0.1]).log().expand(1, 5, 5, 5)
    )  # as likely as pad, begin, end, 4
    plan = SearchPlan(end_threshold=1.5, max_length=5)
    (found,) = plan(TableStepper(tables), torch.arange(1), [Question(4)], torch.ones(1, 4, dtype=torch.bool))
    assert found.hypotheses[0].tokens == (END,)


@pytest.mark.parametrize("name", PLANS)
def test_an_unknown_word_is_said_unless_another_is_wanted(name: str) -> None:
    stepper = TableStepper.random(2, vocabulary=7, seed=4)
    stepper.tables[..., UNKNOWN] += 20.0
    stepper.tables = torch.log_softmax(stepper.tables, dim=-1)

    def said(unknown: bool) -> list[set[int]]:
        plan = replace(PLANS[name], max_length=5, unknown=unknown)
        questions = [Question(4, bytes([number])) for number in range(2)]
        found = plan(stepper, torch.arange(2), questions, torch.ones(2, 4, dtype=torch.bool))
        return [set(one.tokens) for some in found for one in some.hypotheses]

    assert any(UNKNOWN in one for one in said(True))
    assert said(False)
    assert not any(UNKNOWN in one for one in said(False))


def test_a_beginning_that_repeats_itself_is_answered() -> None:
    stepper = TableStepper.random(1, vocabulary=8, seed=1)
    question = Question(4, rules=(Prefix((4, 5, 4, 5)),))
    (found,) = SearchPlan(beam=4, no_repeat=2)(
        stepper, torch.arange(1), [question], torch.ones(1, 4, dtype=torch.bool)
    )
    assert found.hypotheses[0].tokens[:4] == (4, 5, 4, 5)
