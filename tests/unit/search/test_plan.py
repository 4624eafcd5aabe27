import math

import pytest
import torch
from tables import TableStepper

from regard.search import Question, SearchPlan


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
