import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

from regard.layers import Convolution, steady_linear, steady_sum


@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize("weight_norm", [False, True])
def test_a_gated_convolution_is_torchs_convolution_and_gate(kernel: int, weight_norm: bool) -> None:
    torch.manual_seed(0)
    layer = Convolution(6, kernel=kernel, weight_norm=weight_norm)
    torch.nn.init.normal_(layer.linear.bias)
    vectors = torch.randn(2, 9, 6)
    weight = layer.linear.weight.view(12, kernel, 6).transpose(1, 2)  # out, in, kernel
    convolved = functional.conv1d(vectors.transpose(1, 2), weight, layer.linear.bias)  # B 2D T
    torch.testing.assert_close(layer(vectors), functional.glu(convolved, dim=1).transpose(1, 2))


def test_what_passes_through_twenty_gated_convolutions_stays_as_large_as_it_was() -> None:
    """Section 3.5. Of pieces as small as the paper's, Glorot's start would leave a hundredth."""
    torch.manual_seed(0)
    first = vectors = 0.1 * torch.randn(4, 60, 64)
    with torch.no_grad():
        for _ in range(20):
            layer = Convolution(64, kernel=3)
            vectors = steady_sum(vectors, layer(functional.pad(vectors, (0, 0, 1, 1))))
    assert float(vectors.std() / first.std()) == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize(("gain", "dropout"), [(1.0, 0.0), (4.0, 0.0), (4.0, 0.2)])
def test_matrices_start_with_the_papers_deviation(gain: float, dropout: float) -> None:
    torch.manual_seed(0)
    linear = steady_linear(300, 200, gain=gain, dropout=dropout)
    assert float(linear.weight.detach().std()) == pytest.approx(
        math.sqrt(gain * (1 - dropout) / 300), rel=0.02
    )
    assert (linear.bias == 0).all()


def test_weight_normalisation_changes_nothing_at_the_start_and_is_saved(tmp_path: Path) -> None:
    torch.manual_seed(0)
    plain = steady_linear(5, 4)
    torch.manual_seed(0)
    normed = steady_linear(5, 4, weight_norm=True)
    torch.testing.assert_close(normed.weight, plain.weight)
    normed(torch.randn(3, 5)).square().sum().backward()
    with torch.no_grad():
        for parameter in normed.parameters():
            parameter -= 0.1 * parameter.grad
    save_file(normed.state_dict(), tmp_path / "weights.safetensors")
    other = steady_linear(5, 4, weight_norm=True)
    other.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    torch.testing.assert_close(other.weight, normed.weight)
    assert not torch.equal(other.weight, plain.weight)
