import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from regard.layers.points import POINT_HEADS, Gaussian, Huber, Mixture, PointEmbedding, PointHead, Squared

WIDTH, SIZE, STEPS = 6, 2, 9
NAN = float("nan")

every = pytest.mark.parametrize("name", POINT_HEADS)


def made(name: str, **options: Any) -> PointHead:
    torch.manual_seed(1)
    return POINT_HEADS[name](WIDTH, SIZE, **options)


def holes() -> Tensor:
    points = torch.randn(STEPS, SIZE)
    points[2, 0] = points[5, 1] = NAN
    points[7] = NAN
    return points


# ---- embedding


def test_an_unknown_value_is_told_from_zero() -> None:
    embedding = PointEmbedding(SIZE, WIDTH)
    vectors = embedding(torch.tensor([[0.0, 1.0], [NAN, 1.0], [NAN, NAN]]))
    assert vectors.shape == (3, WIDTH)
    assert vectors.isfinite().all()
    assert not torch.allclose(vectors[0], vectors[1])
    assert not torch.allclose(vectors[1], vectors[2])
    assert (embedding.size, embedding.width) == (SIZE, WIDTH)


def test_a_point_is_mapped_linearly_with_what_is_known_beside_it() -> None:
    embedding = PointEmbedding(SIZE, WIDTH)
    weight, bias = embedding.linear.weight, embedding.linear.bias
    expected = weight @ torch.tensor([3.0, 0, 1, 0]) + bias
    torch.testing.assert_close(embedding(torch.tensor([3.0, NAN])), expected)


def test_gradients_of_an_embedding_are_numbers_where_values_are_not() -> None:
    embedding = PointEmbedding(SIZE, WIDTH)
    embedding(holes()).square().sum().backward()
    assert embedding.linear.weight.grad.isfinite().all()


def test_dropout_of_an_embedding_is_for_training() -> None:
    embedding = PointEmbedding(SIZE, WIDTH, dropout=0.5)
    points = torch.ones(50, SIZE)
    assert (embedding(points) == 0).any()
    assert not (embedding.eval()(points) == 0).any()


# ---- every head


@every
def test_what_is_judged_by_features_is_what_is_judged_once_it_is_said(name: str) -> None:
    head, features, wanted = made(name), torch.randn(STEPS, WIDTH), holes()
    one, other = (
        head.judge(head.features(features, None, None), wanted),
        head.judge_said(head(features), wanted),
    )
    torch.testing.assert_close(one.total, other.total)
    torch.testing.assert_close(one.total.detach(), -one.likelihoods.sum())
    torch.testing.assert_close(one.likelihoods, head.log_probability(head(features), wanted).detach())
    assert not one.likelihoods.requires_grad
    assert head.layer is None


@every
def test_a_value_nobody_knows_is_not_judged(name: str) -> None:
    head, said = made(name), torch.randn(STEPS, made(name).out_features)
    nothing = head.log_probability(said, torch.full((STEPS, SIZE), NAN))
    torch.testing.assert_close(nothing, torch.zeros(STEPS))
    if name == "mixture":  # its values know of each other
        return
    wanted = torch.randn(STEPS, SIZE)
    parts = [wanted.clone() for _ in range(SIZE)]
    for value, part in enumerate(parts):
        part[:, 1 - value] = NAN
    together = sum(head.log_probability(said, part) for part in parts)
    torch.testing.assert_close(together, head.log_probability(said, wanted))


@every
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    head, wanted = made(name), holes().double()
    said = torch.randn(STEPS, head.out_features, dtype=torch.float64, requires_grad=True)
    original = Tensor.float
    Tensor.float = Tensor.double  # single precision is too coarse for differences
    try:
        assert torch.autograd.gradcheck(lambda one: head.judge_said(one, wanted).total, said)
    finally:
        Tensor.float = original


@every
@pytest.mark.parametrize("size", [1e-30, 1e3, 1e8])
def test_extreme_numbers_have_finite_losses_and_gradients(name: str, size: float) -> None:
    head, wanted = made(name), holes() * min(size, 1e8)
    said = (torch.randn(STEPS, head.out_features) * size).requires_grad_()
    judged = head.judge_said(said, wanted)
    judged.total.backward()
    assert judged.total.isfinite()
    assert said.grad.isfinite().all()


@every
def test_points_come_in_the_right_shape_whatever_the_steps_are(name: str) -> None:
    head = made(name)
    said = head(torch.randn(3, 4, WIDTH))
    assert head.expected(said).shape == (3, 4, SIZE)
    assert head.log_probability(said, torch.randn(3, 4, SIZE)).shape == (3, 4)
    assert head.draw(said[0]).shape == (4, SIZE)
    assert head.draw(said[0]).dtype == said.dtype


@every
def test_the_same_chances_pick_the_same_points(name: str) -> None:
    head = made(name)
    said, chances = head(torch.randn(STEPS, WIDTH)), torch.rand(STEPS, 1 + SIZE, dtype=torch.float64)
    together = head.pick(said, chances)
    torch.testing.assert_close(together[3:4], head.pick(said[3:4], chances[3:4]), rtol=0, atol=0)


@every
@pytest.mark.parametrize("chance", [0.0, 1.0 - 2**-53])
def test_the_last_chances_pick_finite_points(name: str, chance: float) -> None:
    head = made(name)
    said = head(torch.randn(STEPS, WIDTH))
    assert head.pick(said, torch.full((STEPS, 1 + SIZE), chance, dtype=torch.float64)).isfinite().all()


@every
@pytest.mark.parametrize("seed", [1, 2])
def test_a_head_learns_what_follows(name: str, seed: int) -> None:
    """y = (x₀ + x₁, −x₀) from features x."""
    torch.manual_seed(seed)
    head = POINT_HEADS[name](WIDTH, SIZE)
    features = torch.randn(200, WIDTH)
    wanted = torch.stack([features[:, 0] + features[:, 1], -features[:, 0]], dim=-1)
    optimizer = torch.optim.Adam(head.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        (head.judge(features, wanted).total / 200).backward()
        optimizer.step()
    assert (head.expected(head(features)) - wanted).abs().mean() < 0.1


# ---- each


def test_the_squared_error_is_summed_over_the_values() -> None:
    said, wanted = torch.tensor([[1.0, 2.0]]), torch.tensor([[4.0, 4.0]])
    assert Squared(WIDTH, SIZE).judge_said(said, wanted).total == 13
    assert (Squared(WIDTH, SIZE).draw(said) == said).all()


def test_large_errors_count_by_their_size() -> None:
    """δ = 2: an error of 1 costs ½, one of 5 costs 2·(5 − 1)."""
    judged = Huber(WIDTH, SIZE, delta=2.0).judge_said(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 5.0]]))
    assert judged.total == 8.5


def normal(said: Tensor) -> Normal:
    """Scales between a thousandth and a thousand: 1 / σ = 1/1000 + 1 / (s + 1/1000), for what is said as log s."""
    mean, free = said.chunk(2, dim=-1)
    return Normal(mean, 1 / (1e-3 + 1 / (free.exp() + 1e-3)))


def test_the_likelihood_of_a_gaussian_is_that_of_torch() -> None:
    said, wanted = torch.randn(STEPS, 2 * SIZE), torch.randn(STEPS, SIZE)
    expected = normal(said).log_prob(wanted).sum(-1)
    torch.testing.assert_close(Gaussian(WIDTH, SIZE).log_probability(said, wanted), expected)


def test_the_likelihood_of_a_mixture_is_that_of_torch() -> None:
    head = Mixture(WIDTH, SIZE, components=3)
    said, wanted = torch.randn(STEPS, 3 + 3 * 2 * SIZE), torch.randn(STEPS, SIZE)
    parts = Independent(normal(said[:, 3:].unflatten(-1, (3, 2 * SIZE))), 1)
    expected = MixtureSameFamily(Categorical(logits=said[:, :3]), parts).log_prob(wanted)
    torch.testing.assert_close(head.log_probability(said, wanted), expected)


def test_a_mixture_of_one_is_a_gaussian() -> None:
    said, wanted = torch.randn(STEPS, 2 * SIZE), holes()
    one = Mixture(WIDTH, SIZE, components=1)
    beside = torch.cat([torch.randn(STEPS, 1), said], dim=-1)
    torch.testing.assert_close(
        one.log_probability(beside, wanted), Gaussian(WIDTH, SIZE).log_probability(said, wanted)
    )


@pytest.mark.parametrize(("free", "scale"), [(-50.0, 1e-3), (50.0, 1e3)])
def test_a_scale_has_its_bounds(free: float, scale: float) -> None:
    said = torch.tensor([[0.0, 0.0, free, free]])
    at_mean = Gaussian(WIDTH, SIZE).log_probability(said, torch.zeros(1, SIZE))
    expected = -SIZE * (math.log(scale) + 0.5 * math.log(2 * math.pi))
    assert at_mean.item() == pytest.approx(expected, rel=1e-3)


def test_the_expected_point_of_a_mixture_is_the_mean_of_its_likeliest_part() -> None:
    head = Mixture(WIDTH, SIZE, components=2)
    said = torch.tensor([[0.0, 1.0, 5, 6, 0, 0, -7, 8, 0, 0]])
    assert head.expected(said).tolist() == [[-7, 8]]


@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_draws_of_a_gaussian_have_its_mean_and_scale(temperature: float) -> None:
    head, chances = Gaussian(WIDTH, 1), torch.rand(20_000, 2, dtype=torch.float64)
    said = torch.tensor([[3.0, math.log(2.0)]]).expand(20_000, -1)
    drawn = head.pick(said, chances, temperature)
    assert drawn.mean().item() == pytest.approx(3, abs=0.05)
    assert drawn.std().item() == pytest.approx(2 * temperature**0.5, rel=0.03)


def test_draws_of_a_mixture_come_from_its_parts_as_often_as_they_are_likely() -> None:
    """Three parts around −10, 0 and 10 with a half, a third and a sixth."""
    head = Mixture(WIDTH, 1, components=3)
    logits = torch.tensor([3.0, 2.0, 1.0]).log()
    said = torch.cat([logits, torch.tensor([-10.0, -2, 0, -2, 10, -2])]).expand(6000, -1)
    drawn = head.draw(said)[:, 0]
    shares = [((drawn - middle).abs() < 2).float().mean().item() for middle in (-10, 0, 10)]
    assert shares == pytest.approx([1 / 2, 1 / 3, 1 / 6], abs=0.03)
    low, even = (
        head.pick(said, torch.rand(6000, 2, dtype=torch.float64), temperature) for temperature in (0.2, 1.0)
    )
    assert (low < -5).float().mean() > (even < -5).float().mean() + 0.2
