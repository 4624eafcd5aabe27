"""Settings that may change while a training goes on."""

import pytest

from regard.config import load_config
from regard.config.going_on import harmful, harmless


@pytest.mark.parametrize(
    "change",
    [
        "search.length_penalty=1.5",
        "search.beam=3",
        "evaluation.batch_tokens=100",
        'evaluation.metrics=["exact_match"]',
        "training.log_every=7",
        "training.device=cpu",
        "training.samples=0",
    ],
)
def test_what_no_weight_depends_on_may_change(change: str) -> None:
    old, new = load_config("dates"), load_config("dates", [change])
    assert len(harmless(old, new)) == 1
    assert not harmful(old, new)


@pytest.mark.parametrize(
    "change",
    [
        "training.seed=2",
        "training.batch_tokens=100",
        "training.learning_rate=0.5",
        "training.validate_every=3",
        "model.dropout=0.5",
        "search.max_length=77",  # tables of positions are as long
        "training.patience=3",
        "data.seed=5",
    ],
)
def test_what_weights_depend_on_may_not(change: str) -> None:
    old, new = load_config("dates"), load_config("dates", [change])
    assert len(harmful(old, new)) == 1
    assert not harmless(old, new)


@pytest.mark.parametrize(
    ("schedule", "before", "after", "may"),
    [
        ("constant", 100, 200, True),
        ("inverse_sqrt", 100, 200, True),
        ("inverse_sqrt", 200, 100, False),
        ("cosine", 100, 200, False),
        ("linear", 100, 200, False),
    ],
)
def test_a_training_may_become_longer_where_its_schedule_has_no_end(
    schedule: str, before: int, after: int, may: bool
) -> None:
    old, new = (
        load_config("dates", [f"training.schedule={schedule}", f"training.steps={steps}"])
        for steps in (before, after)
    )
    assert bool(harmless(old, new)) is may
    assert bool(harmful(old, new)) is not may


def test_a_limit_may_be_lifted_but_not_added() -> None:
    free = load_config("dates", ["training.schedule=constant"])
    bound = load_config("dates", ["training.schedule=constant", "training.tokens=1000"])
    assert not harmful(bound, free)
    assert harmful(free, bound)
