import numpy as np
import pytest
import torch

from regard.attention import SELECTIONS


def sparsemax(z: np.ndarray) -> np.ndarray:
    """Martins & Astudillo 2016, algorithm 1, one row, in plain NumPy."""
    ordered = np.sort(z)[::-1]
    sums = np.cumsum(ordered)
    k = max(k for k in range(1, len(z) + 1) if 1 + k * ordered[k - 1] > sums[k - 1])
    return np.maximum(z - (sums[k - 1] - 1) / k, 0)


@pytest.mark.parametrize("seed", range(50))
def test_sparsemax_equals_its_closed_form_and_gives_exact_zeros(seed: int) -> None:
    chance = np.random.default_rng(seed)
    size, allowed = 12, chance.integers(1, 13)
    z = chance.normal(scale=chance.choice([0.1, 1, 10]), size=size)
    mask = torch.arange(size) < allowed
    weights = SELECTIONS["sparse"]()(torch.tensor(z)[None, None, None], mask).weights[0, 0, 0].numpy()
    np.testing.assert_allclose(weights[:allowed], sparsemax(z[:allowed]), atol=1e-12)
    assert (weights[allowed:] == 0).all()
    if allowed > 1 and sparsemax(z[:allowed]).max() == 1:
        assert (weights == 0).sum() == size - 1


def test_nearest_takes_the_highest_alone_and_learns_as_if_it_were_soft() -> None:
    scores = torch.tensor([[[[0.1, 0.7, 0.2, 9.0]]]], requires_grad=True)
    mask = torch.tensor([True, True, True, False])
    values = torch.tensor([1.0, 2.0, 4.0, 8.0])
    weights = SELECTIONS["nearest"]()(scores, mask).weights
    assert weights.flatten().tolist() == [0, 1, 0, 0]
    (weights * values).sum().backward()
    soft = scores.detach().clone().requires_grad_()
    (SELECTIONS["soft"]()(soft, mask).weights * values).sum().backward()
    torch.testing.assert_close(scores.grad, soft.grad)


def test_hard_draws_each_position_as_often_as_soft_weighs_it() -> None:
    torch.manual_seed(0)
    scores = torch.tensor([0.0, 1.0, 2.0, 5.0]).expand(20_000, 1, 1, 4)
    mask = torch.tensor([True, True, True, False])
    selected = SELECTIONS["hard"](half_soft=0.0)(scores, mask)
    expected = torch.softmax(torch.tensor([0.0, 1.0, 2.0]), -1)
    torch.testing.assert_close(selected.weights.mean((0, 1, 2))[:3], expected, atol=0.012, rtol=0)
    assert (selected.weights.sum(-1) == 1).all()
    assert ((selected.weights == 0) | (selected.weights == 1)).all()
    assert selected.choice is not None
    drawn = selected.weights.argmax(-1)
    torch.testing.assert_close(selected.choice.log_probability, expected.log()[drawn])
    entropy = float(-(expected * expected.log()).sum())
    torch.testing.assert_close(selected.choice.entropy, torch.full((20_000, 1, 1), entropy))


def test_hard_leaves_half_of_its_looks_soft_in_training_and_takes_the_highest_when_predicting() -> None:
    torch.manual_seed(0)
    scores, mask = torch.tensor([0.0, 1.0, 2.0]).expand(10_000, 1, 1, 3), torch.ones(3, dtype=torch.bool)
    hard = SELECTIONS["hard"]()
    assert isinstance(hard, torch.nn.Module)
    selected = hard(scores, mask)
    is_soft = selected.weights.amax(-1) < 1
    assert float(is_soft.float().mean()) == pytest.approx(0.5, abs=0.02)
    assert selected.choice is not None
    assert (selected.choice.log_probability[is_soft] == 0).all()
    hard.eval()
    predicted = hard(scores, mask)
    assert predicted.choice is None
    assert (predicted.weights == torch.tensor([0.0, 0.0, 1.0])).all()


def test_sparsemax_of_many_narrow_numbers_is_that_of_wide_ones() -> None:
    """As under autocast: bfloat16 counts no further than 256."""
    torch.manual_seed(0)
    scores, mask = (torch.randn(1, 1, 4, 1000) / 1000).bfloat16(), torch.ones(1000, dtype=torch.bool)
    found = SELECTIONS["sparse"]()(scores, mask).weights
    expected = SELECTIONS["sparse"]()(scores.float(), mask).weights
    assert found.dtype == torch.bfloat16
    assert ((expected > 0).sum(-1) > 256).all()
    torch.testing.assert_close(found, expected.bfloat16())
