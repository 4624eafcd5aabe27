import pytest
import torch

from regard.layers import Dropout, SequenceDropout


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.9])
def test_as_many_are_dropped_as_the_rate_says_and_the_mean_stays(rate: float) -> None:
    torch.manual_seed(1)
    dropped = Dropout(rate)(torch.ones(1000, 401))
    assert (dropped == 0).float().mean().item() == pytest.approx(rate, abs=0.005)
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / (1 - rate)], rel=1e-3)
    assert dropped.mean().item() == pytest.approx(1, abs=0.02)


def test_neighbours_are_dropped_independently() -> None:
    """Four of them come from one random number."""
    torch.manual_seed(1)
    kept = (Dropout(0.5)(torch.ones(40_000, 4)) > 0).float()
    assert torch.allclose(torch.corrcoef(kept.T), torch.eye(4), atol=0.03)
    assert (kept[1:] * kept[:-1]).mean().item() == pytest.approx(0.25, abs=0.01)


def test_the_same_seed_drops_the_same() -> None:
    found = []
    for _ in range(2):
        torch.manual_seed(3)
        found.append(Dropout(0.5)(torch.ones(7, 5)))
    assert torch.equal(*found)
    assert not torch.equal(found[0], Dropout(0.5)(torch.ones(7, 5)))


def test_only_training_drops_and_only_what_is_dropped_has_no_gradient() -> None:
    dropout, vectors = Dropout(0.5), torch.randn(6, 9, requires_grad=True)
    seen = dropout(vectors)
    seen.sum().backward()
    assert torch.equal(vectors.grad == 0, seen == 0)
    assert torch.equal(dropout.eval()(vectors), vectors)
    assert torch.equal(Dropout(0.0)(vectors), vectors)


def test_variational_drops_the_same_at_every_step_and_otherwise_not() -> None:
    torch.manual_seed(1)
    vectors = torch.ones(5, 8, 16)
    same, each = SequenceDropout(0.5, variational=True)(vectors), SequenceDropout(0.5)(vectors)
    assert torch.equal(same, same[:, :1].expand_as(same))
    assert not torch.equal(each, each[:, :1].expand_as(each))
