import pytest
import torch
from torch import nn

from regard.training.averages import MovingAverage, mean


def test_the_mean_is_taken_in_float64_and_given_in_the_weights_own_type() -> None:
    """In float32, 2^24 + 1 + 1 is 2^24."""
    found = mean([{"w": torch.tensor([value])} for value in (2.0**24, 1.0, 1.0)])["w"]
    assert found.dtype == torch.float32
    assert found.item() == (2**24 + 2) / 3


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_float_type_comes_back_as_it_was(kind: torch.dtype) -> None:
    found = mean([{"w": torch.tensor([1.0, 3.0], dtype=kind)}, {"w": torch.tensor([2.0, -3.0], dtype=kind)}])
    assert found["w"].dtype == kind
    assert found["w"].tolist() == [1.5, 0.0]


def test_what_is_not_a_float_is_taken_from_the_first() -> None:
    sets = [
        {"count": torch.tensor(9), "flag": torch.tensor(True)},
        {"count": torch.tensor(5), "flag": torch.tensor(False)},
    ]
    assert mean(sets) == sets[0]


def test_the_mean_of_equal_weights_is_the_same_bits() -> None:
    weights = {"w": torch.randn(1000, generator=torch.Generator().manual_seed(0))}
    for count in (1, 3, 7):
        assert torch.equal(mean([weights] * count)["w"], weights["w"])


@pytest.mark.parametrize("other", [{"w": torch.zeros(3)}, {"v": torch.zeros(2)}, {}])
def test_weights_of_different_models_are_refused(other: dict[str, torch.Tensor]) -> None:
    with pytest.raises(ValueError, match="different models"):
        mean([{"w": torch.zeros(2)}, other])


class Walking(nn.Module):
    """Its weight is what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([50.0]))
        self.tied = self.weight
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("closed", torch.tensor([float("-inf"), 0.0]))  # infinity has no average

    def go(self, value: float) -> None:
        with torch.no_grad():
            self.weight.fill_(value)
        self.steps += 1


@pytest.mark.parametrize("decay", [0.5, 0.9, 0.999])
def test_a_moving_average_is_the_weighted_mean_of_all_steps_and_the_start_has_no_share(decay: float) -> None:
    module = Walking()
    average = MovingAverage(module, decay=decay)
    values = [3.0, -1.0, 4.0, 1.0, -5.0]
    for step, value in enumerate(values, start=1):
        module.go(value)
        average.add(module, step=step)
        shares = [decay ** (step - one) for one in range(1, step + 1)]
        expected = sum(s * v for s, v in zip(shares, values, strict=False)) / sum(shares)
        assert average.weights["weight"].item() == pytest.approx(expected, rel=1e-5)
    assert average.weights.keys() == {"weight", "steps", "closed"}
    assert average.weights["closed"].tolist() == [float("-inf"), 0.0]
    assert average.weights["steps"].item() == 5
    assert module.weight.item() == -5.0
