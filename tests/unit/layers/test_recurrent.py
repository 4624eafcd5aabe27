"""Our layers against torch's own networks, stepped and in one call."""

import pytest
import torch
from torch import nn

from regard.layers import CELLS

NETWORKS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


@pytest.mark.parametrize("name", CELLS)
def test_a_layer_with_torchs_weights_equals_torchs_network(name: str) -> None:
    torch.manual_seed(0)
    network, layer = NETWORKS[name](3, 5, batch_first=True), CELLS[name](3, 5)
    with torch.no_grad():
        for own, theirs in zip(layer.weights(), network.parameters(), strict=True):
            own.copy_(theirs)
    inputs, state = torch.randn(2, 7, 3), torch.randn(2, layer.parts * 5)
    first = tuple(part[None].contiguous() for part in state.chunk(layer.parts, dim=-1))
    expected, _ = network(inputs, first if layer.parts == 2 else first[0])
    torch.testing.assert_close(layer.sequence(inputs, state), expected)
    for t in range(7):
        state = layer.step(layer.input(inputs[:, t]), state)
        torch.testing.assert_close(state[:, :5], expected[:, t])


@pytest.mark.parametrize("name", CELLS)
def test_a_step_from_a_wide_state_works_with_narrow_products(name: str) -> None:
    torch.manual_seed(1)
    layer = CELLS[name](4, 6)
    inputs, state = torch.randn(3, 4), torch.randn(3, 6 * layer.parts)
    wide = layer.step(layer.input(inputs), state)
    with torch.autocast("cpu", torch.bfloat16):
        narrow = layer.step(layer.input(inputs), state)
    torch.testing.assert_close(narrow.float(), wide, atol=0.05, rtol=0.05)
