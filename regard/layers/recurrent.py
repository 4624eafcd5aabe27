"""Recurrent layers, stepped through or run over a whole sequence with the same weights.

A layer's state is one tensor, whose first D numbers are its output. The input is projected apart,
so that inputs known beforehand go all at once. The formulas and the order of the gates are
torch's: what torch runs over a sequence in one call equals our steps.
"""

import torch
from torch import Tensor, nn

from regard.layers.linear import Linear, glorot_, orthogonal_


class RecurrentLayer(nn.Module):
    """What the cells share: input and recurrent weights for all gates."""

    gates: int
    parts: int

    def __init__(self, inputs: int, width: int):
        super().__init__()
        self.width = width
        self.input = Linear(inputs, self.gates * width, blocks=self.gates)
        self.recurrent = Linear(width, self.gates * width)
        orthogonal_(self.recurrent.weight, blocks=self.gates)

    def weights(self) -> list[Tensor]:
        return [self.input.weight, self.recurrent.weight, self.input.bias, self.recurrent.bias]

    def step(self, given: Tensor, state: Tensor) -> Tensor:
        """`given` is the input's share of the gates, B G; state B (P D)."""
        raise NotImplementedError

    def sequence(self, inputs: Tensor, state: Tensor) -> Tensor:
        """All steps in one call: inputs B T E, first state B (P D) -> outputs B T D."""
        raise NotImplementedError


class RNN(RecurrentLayer):
    """s' = tanh(x + Us)   (Elman 1990)."""

    gates = 1
    parts = 1

    def step(self, given: Tensor, state: Tensor) -> Tensor:
        return torch.tanh(given + self.recurrent(state))  # B D

    def sequence(self, inputs: Tensor, state: Tensor) -> Tensor:
        return torch.rnn_tanh(
            inputs, state[None], self.weights(), True, 1, 0.0, torch.is_grad_enabled(), False, True
        )[0]


class GRU(RecurrentLayer):
    """r, z = σ(x + Us);  n = tanh(xₙ + r∘Uₙs);  s' = (1−z)∘n + z∘s   (Cho et al. 2014)."""

    gates = 3
    parts = 1

    def step(self, given: Tensor, state: Tensor) -> Tensor:
        shares = [2 * self.width, self.width]
        given_gates, given_new = torch.split(given, shares, dim=-1)
        own_gates, own_new = torch.split(self.recurrent(state), shares, dim=-1)
        reset, update = torch.sigmoid(given_gates + own_gates).chunk(2, dim=-1)  # B D each
        new = torch.tanh(torch.addcmul(given_new, reset, own_new))  # B D
        return torch.lerp(new, state.to(new.dtype), update)  # B D; a first state may have wider numbers

    def sequence(self, inputs: Tensor, state: Tensor) -> Tensor:
        return torch.gru(
            inputs, state[None], self.weights(), True, 1, 0.0, torch.is_grad_enabled(), False, True
        )[0]


class LSTM(RecurrentLayer):
    """i, f, g, o from x + Uh;  c' = σ(f)∘c + σ(i)∘tanh(g);  h' = σ(o)∘tanh(c')   (Gers et al. 2000)."""

    gates = 4
    parts = 2  # the output and the cell stand side by side

    def __init__(self, inputs: int, width: int):
        super().__init__(inputs, width)
        open_forget_gate_(self.recurrent.bias)

    def step(self, given: Tensor, state: Tensor) -> Tensor:
        hidden, cell = state.chunk(2, dim=-1)  # B D each
        keep_in, forget, new, out = (given + self.recurrent(hidden)).chunk(4, dim=-1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(keep_in) * torch.tanh(new)
        return torch.cat([torch.sigmoid(out) * torch.tanh(cell), cell], dim=-1)  # B 2D

    def sequence(self, inputs: Tensor, state: Tensor) -> Tensor:
        first = [part[None].contiguous() for part in state.chunk(2, dim=-1)]
        return torch.lstm(inputs, first, self.weights(), True, 1, 0.0, torch.is_grad_enabled(), False, True)[
            0
        ]


CELLS: dict[str, type[RecurrentLayer]] = {"rnn": RNN, "gru": GRU, "lstm": LSTM}


def open_forget_gate_(bias: Tensor) -> None:
    """Lets gradients through from the start (Jozefowicz et al. 2015)."""
    width = len(bias) // LSTM.gates
    with torch.no_grad():
        bias[width : 2 * width].fill_(1.0)


def begin_well(network: nn.RNNBase, cell: str) -> None:
    """Gives torch's network of one layer the start that our cells have."""
    gates = CELLS[cell].gates
    for name, parameter in network.named_parameters():
        if name.startswith("weight_ih"):
            glorot_(parameter, blocks=gates)
        elif name.startswith("weight_hh"):
            orthogonal_(parameter, blocks=gates)
        else:
            nn.init.zeros_(parameter)
            if cell == "lstm" and name.startswith("bias_hh"):
                open_forget_gate_(parameter)
