import math

import pytest

from regard.training import SCHEDULES


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_rises_linearly_through_its_warmup(name: str) -> None:
    schedule = SCHEDULES[name](warmup=10)
    assert [schedule(step, 100) for step in (1, 5, 10)] == pytest.approx([0.1, 0.5, 1.0])


@pytest.mark.parametrize("name", SCHEDULES)
def test_without_a_warmup_every_schedule_starts_near_the_top(name: str) -> None:
    assert SCHEDULES[name](warmup=0)(1, 100) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("step", [1, 2, 100, 3999, 4000, 4001, 8000, 100_000])
def test_inverse_sqrt_is_the_formula_of_the_transformers_paper(step: int) -> None:
    """Vaswani et al. 2017, equation 3, with the highest rate set to d^-0.5 * warmup^-0.5."""
    width, warmup = 512, 4000
    rate = width**-0.5 * warmup**-0.5 * SCHEDULES["inverse_sqrt"](warmup=warmup)(step, 100_000)
    assert rate == pytest.approx(width**-0.5 * min(step**-0.5, step * warmup**-1.5), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "step", "expected"),
    [
        ("constant", 1000, 1.0),
        ("inverse_sqrt", 40, 0.5),
        ("inverse_sqrt", 1000, 0.1),
        ("linear", 55, 0.5),
        ("linear", 100, 0.0),
        ("linear", 200, 0.0),
        ("cosine", 55, 0.5),
        ("cosine", 32.5, (1 + math.cos(math.pi / 4)) / 2),
        ("cosine", 100, 0.0),
    ],
)
def test_a_schedule_falls_as_its_formula_says(name: str, step: int, expected: float) -> None:
    assert SCHEDULES[name](warmup=10)(step, 100) == pytest.approx(expected)
