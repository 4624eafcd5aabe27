"""Recurrent cells whose input is projected outside, so that known inputs of all steps go at once.

A cell's state is one tensor, whose first D numbers are the cell's output. The formulas and the
order of the gates are torch's, so that `nn.GRU` and `nn.LSTM` are the reference in the tests.
"""

import torch
from torch import Tensor, nn


class GRUCell(nn.Module):
    """r, z = σ(x + Us);  n = tanh(xₙ + r∘Uₙs);  s' = (1−z)∘n + z∘s   (Cho et al. 2014)."""

    gates = 3
    parts = 1

    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.recurrent = nn.Linear(width, 3 * width)

    def forward(self, given: Tensor, state: Tensor) -> Tensor:
        """`given` is the input's share of the gates, B 3D; state B D."""
        parts = [2 * self.width, self.width]
        given_gates, given_new = torch.split(given, parts, dim=-1)
        own_gates, own_new = torch.split(self.recurrent(state), parts, dim=-1)
        reset, update = torch.sigmoid(given_gates + own_gates).chunk(2, dim=-1)  # B D each
        new = torch.tanh(torch.addcmul(given_new, reset, own_new))  # B D
        return torch.lerp(new, state, update)  # B D


class LSTMCell(nn.Module):
    """i, f, g, o from x + Uh;  c' = σ(f)∘c + σ(i)∘tanh(g);  h' = σ(o)∘tanh(c')   (Gers et al. 2000)."""

    gates = 4
    parts = 2  # the output and the cell stand side by side

    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.recurrent = nn.Linear(width, 4 * width)
        with torch.no_grad():  # an open forget gate at the start lets gradients through (Jozefowicz 2015)
            self.recurrent.bias[width : 2 * width].fill_(1.0)

    def forward(self, given: Tensor, state: Tensor) -> Tensor:
        """`given` is the input's share of the gates, B 4D; state B 2D."""
        hidden, cell = state.chunk(2, dim=-1)  # B D each
        keep_in, forget, new, out = (given + self.recurrent(hidden)).chunk(4, dim=-1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(keep_in) * torch.tanh(new)
        return torch.cat([torch.sigmoid(out) * torch.tanh(cell), cell], dim=-1)  # B 2D


Cell = GRUCell | LSTMCell
CELLS: dict[str, type[GRUCell] | type[LSTMCell]] = {"gru": GRUCell, "lstm": LSTMCell}
