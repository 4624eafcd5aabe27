import pytest
import torch
from small import batch, recurrent

from regard.training import DECAYS, FEEDINGS


def test_all_truth_equals_teacher_forcing() -> None:
    model, examples = recurrent(), batch()
    teacher = FEEDINGS["teacher"](lambda step: 1.0)(model, examples, 0).logits
    scheduled = FEEDINGS["scheduled"](lambda step: 1.0)(model, examples, 0).logits
    torch.testing.assert_close(scheduled, teacher)


def test_without_truth_the_first_step_is_the_same_and_the_target_is_never_read() -> None:
    model, examples = recurrent(), batch((4, 4, 4))
    other = batch((4, 4, 4), seed=5)
    mixed = type(examples)(examples.source, other.target)
    outcomes = []
    for one in (examples, mixed):
        torch.manual_seed(3)
        outcomes.append(FEEDINGS["free"](lambda step: 1.0)(model, one, 0).logits)
    torch.testing.assert_close(outcomes[0], outcomes[1])


def test_truth_is_drawn_for_each_piece_by_itself() -> None:
    """With half the truth, some rows of one batch read the truth where others read their own pieces."""
    model, examples = recurrent(), batch((6,) * 32)
    torch.manual_seed(0)
    mixed = FEEDINGS["scheduled"](lambda step: 0.5)(model, examples, 0).logits.view(32, 7, -1)
    teacher = FEEDINGS["teacher"](lambda step: 1.0)(model, examples, 0).logits.view(32, 7, -1)
    second = (mixed[:, 1] - teacher[:, 1]).abs().amax(-1) < 1e-5
    assert 5 < int(second.sum()) < 30
    assert torch.allclose(mixed[:, 0], teacher[:, 0], atol=1e-5)


@pytest.mark.parametrize("name", DECAYS)
def test_every_decay_falls_to_the_least_share_and_never_below(name: str) -> None:
    decay = DECAYS[name](steps=100, least=0.2)
    shares = [decay(step) for step in range(0, 100_000, 50)]
    assert all(0.2 <= share <= 1 for share in shares)
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0.2


@pytest.mark.parametrize(
    ("name", "expected"), [("linear", 0.0), ("exponential", 0.5), ("inverse_sigmoid", 0.5)]
)
def test_a_decay_is_where_it_should_be_at_its_steps(name: str, expected: float) -> None:
    decay = DECAYS[name](steps=100, least=0.0)
    assert decay(100) == pytest.approx(expected, abs=1e-6)
    assert decay(0) > 0.95
