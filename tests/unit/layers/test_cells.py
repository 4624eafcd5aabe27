"""The cells against torch's own networks."""

import pytest
import torch
from torch import nn

from regard.layers import CELLS

NETWORKS = {"gru": nn.GRU, "lstm": nn.LSTM}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_with_torchs_weights_equals_torchs_network(name: str) -> None:
    torch.manual_seed(0)
    network, cell = NETWORKS[name](3, 5, batch_first=True), CELLS[name](5)
    with torch.no_grad():
        cell.recurrent.weight.copy_(network.weight_hh_l0)
        cell.recurrent.bias.copy_(network.bias_hh_l0)
    inputs = torch.randn(2, 7, 3)
    expected, _ = network(inputs)
    state = torch.zeros(2, cell.parts * 5)
    for t in range(7):
        given = inputs[:, t] @ network.weight_ih_l0.T + network.bias_ih_l0
        state = cell(given, state)
        torch.testing.assert_close(state[:, :5], expected[:, t])
