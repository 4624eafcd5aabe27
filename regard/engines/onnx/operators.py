"""Recurrent layers as ONNX's own operators, which know how long each row is."""

import torch
from torch import Tensor, nn
from torch.onnx.ops import symbolic_multi_out

# ONNX has the gates in another order: update, reset, new; in, out, forget, new.
KINDS: dict[type, tuple[str, tuple[int, ...]]] = {
    nn.RNN: ("RNN", (0,)),
    nn.GRU: ("GRU", (1, 0, 2)),
    nn.LSTM: ("LSTM", (0, 3, 1, 2)),
}


class Operator(nn.Module):
    """One layer. It computes nothing but in a graph."""

    inputs: Tensor  # directions (G D) E
    own: Tensor  # directions (G D) D
    shift: Tensor  # directions (2 G D)

    def __init__(self, network: nn.RNNBase):
        super().__init__()
        self.name, order = KINDS[type(network)]
        self.directions, self.width = 1 + network.bidirectional, network.hidden_size
        ends = ("l0", "l0_reverse")[: self.directions]

        def ordered(name: str) -> Tensor:
            parts = [getattr(network, f"{name}_{end}").detach().chunk(len(order)) for end in ends]
            return torch.stack([torch.cat([gates[number] for number in order]) for gates in parts])

        self.register_buffer("inputs", ordered("weight_ih"))
        self.register_buffer("own", ordered("weight_hh"))
        self.register_buffer("shift", torch.cat([ordered("bias_ih"), ordered("bias_hh")], dim=1))

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor | tuple[Tensor, ...]]:
        """B S E and B, as an encoder reads; gives B S D, and directions B D once or, with a cell, twice."""
        rows, length = vectors.shape[0], vectors.shape[1]
        last = (self.directions, rows, self.width)
        states = 2 if self.name == "LSTM" else 1
        outputs, *final = symbolic_multi_out(
            self.name,
            (vectors.transpose(0, 1), self.inputs, self.own, self.shift, lengths.to(torch.int32)),
            {
                "hidden_size": self.width,
                "direction": "bidirectional" if self.directions == 2 else "forward",
                **({"linear_before_reset": 1} if self.name == "GRU" else {}),
            },
            dtypes=(vectors.dtype,) * (1 + states),
            shapes=((length, *last), *(last,) * states),
            version=14,
        )  # S directions B D; directions B D each
        return outputs.permute(2, 0, 1, 3).flatten(2), tuple(final) if states == 2 else final[0]
