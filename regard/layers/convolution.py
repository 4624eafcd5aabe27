"""Gated convolutions, and what keeps the numbers of a deep stack of them in size (Gehring et al. 2017)."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrizations


class Convolution(nn.Module):
    """Each position and its neighbours through one matrix, then a gate (section 3.2): A ∘ σ(B), [A B] = W[x₁ … xₖ].

    It is written as a matrix over windows: one step is then the same product as all steps, and on a CPU it
    is faster than torch's own convolution.
    """

    def __init__(self, width: int, *, kernel: int, dropout: float = 0.0, weight_norm: bool = False):
        super().__init__()
        self.kernel = kernel
        self.linear = steady_linear(
            kernel * width, 2 * width, gain=4.0, dropout=dropout, weight_norm=weight_norm
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """B (T + k − 1) D -> B T D"""
        length = vectors.shape[1] - self.kernel + 1
        windows = torch.cat([vectors[:, n : n + length] for n in range(self.kernel)], dim=-1)  # B T (k D)
        return functional.glu(self.linear(windows), dim=-1)  # B T D


def steady_linear(
    inputs: int, outputs: int, *, gain: float = 1.0, dropout: float = 0.0, weight_norm: bool = False
) -> nn.Linear:
    """Wx + b that gives numbers as large as it gets, with b = 0 and W from N(0, gain·(1 − dropout) / inputs).

    `dropout` is the share that was dropped before it. A gate lets a quarter of the variance through: what is
    gated has gain 4 (section 3.5). With `weight_norm` each row of W is learned as a length and a direction
    (Salimans & Kingma 2016).
    """
    linear = nn.Linear(inputs, outputs)
    begin_steady(linear, gain=gain, dropout=dropout)
    return parametrizations.weight_norm(linear) if weight_norm else linear


def begin_steady(linear: nn.Linear, *, gain: float = 1.0, dropout: float = 0.0) -> None:
    """The start of a `steady_linear`."""
    nn.init.normal_(linear.weight, std=math.sqrt(gain * (1 - dropout) / linear.in_features))
    nn.init.zeros_(linear.bias)


def steady_sum(first: Tensor, second: Tensor) -> Tensor:
    """√½·(x + y): as large as each of them (section 3.4)."""
    return (first + second) * math.sqrt(0.5)


@torch.no_grad()
def begin_tables(embedding: nn.Module) -> None:
    """All its tables, of pieces and of places, start from N(0, 0.1²) (section 3.5)."""
    for table in embedding.modules():
        if isinstance(table, nn.Embedding):
            nn.init.normal_(table.weight, std=0.1)
            if table.padding_idx is not None:
                table.weight[table.padding_idx].zero_()
