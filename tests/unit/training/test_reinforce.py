"""The gradient of a draw: the mean of the sampled gradients is the gradient of the expectation."""

import itertools

import pytest
import torch
from torch.nn import functional

from regard.attention import SELECTIONS
from regard.core.state import Choice
from regard.training import Reinforce

STEPS, SOURCE = 2, 3
DRAWS = 40_000


def likelihood(positions: torch.Tensor) -> torch.Tensor:
    """Log-likelihoods of two pieces, the second depending on both draws: B T -> B T."""
    table = torch.tensor([-0.3, -2.0, -1.1])
    second = torch.tensor([[-1.0, -0.2, -3.0], [-0.5, -2.5, -0.1], [-2.0, -1.5, -0.7]])
    first = table[positions[:, 0]]
    return torch.stack([first, second[positions[:, 0], positions[:, 1]]], dim=1)


def exact_gradient(scores: torch.Tensor) -> torch.Tensor:
    """Of the expected negative log-likelihood, by enumerating every pair of draws."""
    scores = scores.clone().requires_grad_()
    log_p = functional.log_softmax(scores, dim=-1)  # T S
    total = torch.zeros(())
    for drawn in itertools.product(range(SOURCE), repeat=STEPS):
        probability = torch.stack([log_p[t, s] for t, s in enumerate(drawn)]).sum().exp()
        total = total - probability * likelihood(torch.tensor([drawn])).sum()
    (gradient,) = torch.autograd.grad(total, scores)
    return gradient


@pytest.mark.parametrize("baseline", [0.0, -1.5])
def test_the_mean_of_sampled_gradients_is_the_exact_gradient(baseline: float) -> None:
    torch.manual_seed(0)
    scores = torch.tensor([[0.2, -0.4, 0.9], [-0.1, 0.5, 0.3]])
    hard, reinforce = SELECTIONS["hard"](half_soft=0.0), Reinforce(weight=1.0, entropy_bonus=0.0)
    reinforce.baseline.fill_(baseline)
    many = scores.expand(DRAWS, 1, STEPS, SOURCE).clone().requires_grad_()  # B H T S
    selected = hard(many, torch.ones(SOURCE, dtype=torch.bool))
    rewards = likelihood(selected.weights.argmax(-1)[:, 0])  # B T
    assert selected.choice is not None
    mask = torch.ones(DRAWS, STEPS, dtype=torch.bool)
    reinforce(rewards[mask], selected.choice, mask).backward()
    samples = many.grad[:, 0]  # B T S: each row has its own gradient
    error = samples.std(0) / DRAWS**0.5
    distance = (samples.mean(0) - exact_gradient(scores)).abs()
    assert (distance < 4 * error + 1e-7).all(), (distance, error)


def test_a_baseline_calms_the_gradient() -> None:
    spreads = []
    for baseline in (0.0, -1.3):
        torch.manual_seed(0)
        many = torch.zeros(5000, 1, STEPS, SOURCE).requires_grad_()
        selected = SELECTIONS["hard"](half_soft=0.0)(many, torch.ones(SOURCE, dtype=torch.bool))
        reinforce = Reinforce(entropy_bonus=0.0)
        reinforce.baseline.fill_(baseline)
        mask = torch.ones(5000, STEPS, dtype=torch.bool)
        rewards = likelihood(selected.weights.argmax(-1)[:, 0])[mask]
        assert selected.choice is not None
        reinforce(rewards, selected.choice, mask).backward()
        spreads.append(float(many.grad.var(0).sum()))
    assert spreads[1] < spreads[0] / 1.5


def test_the_baseline_is_a_moving_average_of_a_pieces_log_likelihood() -> None:
    reinforce = Reinforce(memory=0.9)
    choice = Choice(torch.zeros(1, 1, 2), torch.zeros(1, 1, 2))
    mask = torch.ones(1, 2, dtype=torch.bool)
    for _ in range(2):
        reinforce(torch.tensor([-1.0, -3.0]), choice, mask)
    assert float(reinforce.baseline) == pytest.approx(-2 * 0.1 - 2 * 0.1 * 0.9)
    assert "baseline" in reinforce.state_dict()


def test_a_draw_is_only_held_responsible_for_pieces_from_its_step_on_and_padding_counts_nothing() -> None:
    log_p = torch.zeros(1, 1, 3, requires_grad=True)
    mask = torch.tensor([[True, True, False]])
    loss = Reinforce(entropy_bonus=0.0)(torch.tensor([-1.0, -4.0]), Choice(log_p, torch.zeros(1, 1, 3)), mask)
    loss.backward()
    assert log_p.grad.flatten().tolist() == [5.0, 4.0, 0.0]  # minus the returns -5, -4 and none


def test_later_pieces_count_less_by_the_discount() -> None:
    log_p = torch.zeros(1, 1, 3, requires_grad=True)
    mask = torch.tensor([[True, True, False]])
    reinforce = Reinforce(entropy_bonus=0.0, discount=0.5)
    reinforce(torch.tensor([-1.0, -4.0]), Choice(log_p, torch.zeros(1, 1, 3)), mask).backward()
    assert log_p.grad.flatten().tolist() == [3.0, 4.0, 0.0]


def test_what_is_usual_for_a_piece_is_nothing_to_learn_from() -> None:
    reinforce = Reinforce(entropy_bonus=0.0, discount=0.0)
    mask = torch.ones(1, 3, dtype=torch.bool)
    pieces, usual = torch.tensor([5, 7, 7]), torch.tensor([-1.0, -4.0, -4.0])
    for _ in range(500):
        reinforce(usual, Choice(torch.zeros(1, 1, 3), torch.zeros(1, 1, 3)), mask, pieces)
    log_p = torch.zeros(1, 1, 3, requires_grad=True)
    found = torch.tensor([-1.0, -4.0, -2.0])  # the last has had a better look
    reinforce(found, Choice(log_p, torch.zeros(1, 1, 3)), mask, pieces).backward()
    assert log_p.grad.flatten().tolist() == pytest.approx([0.0, 0.0, -2.0], abs=0.25)


def test_the_entropy_bonus_rewards_choices_that_stay_open() -> None:
    entropy = torch.tensor([[[0.5, 0.25]]], requires_grad=True)
    mask = torch.ones(1, 2, dtype=torch.bool)
    choice = Choice(torch.zeros(1, 1, 2), entropy)
    Reinforce(weight=0.0, entropy_bonus=0.3)(torch.zeros(2), choice, mask).backward()
    assert entropy.grad.flatten().tolist() == pytest.approx([-0.3, -0.3])
