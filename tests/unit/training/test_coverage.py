import torch

from regard.training import Coverage


def test_the_penalty_is_what_is_looked_at_again() -> None:
    """By hand: min(a, c) of the steps is 0, then 0.5 + 0.2, then 0.3 + 0.7 (c is 1.3 and 0.7)."""
    looks = torch.tensor([[0.5, 0.5], [0.8, 0.2], [0.3, 0.7]])[None, None, None]  # 1 1 1 T S
    mask = torch.tensor([[True, True, True]])
    penalty = Coverage(weight=2.0)
    torch.testing.assert_close(penalty(looks, mask), torch.tensor(2 * (0.7 + 1.0)))
    mask[0, 2] = False
    torch.testing.assert_close(penalty(looks, mask), torch.tensor(2 * 0.7))


def test_one_head_or_the_mean_of_the_chosen_layer_is_covered() -> None:
    once, again = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]
    looks = torch.tensor([[[once, again], [once, once]]])  # B L H T S
    mask = torch.ones(1, 2, dtype=torch.bool)
    assert Coverage(layer=-1)(looks, mask) == 0
    assert Coverage(layer=-2, head=1)(looks, mask) == 1
    assert Coverage(layer=-2, head=0)(looks, mask) == 0
    assert Coverage(layer=-2)(looks, mask) == 0.5
