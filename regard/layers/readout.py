"""Readouts: from what a decoder knows at a step to the features its head turns into logits."""

import torch
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.linear import Linear


class Maxout(nn.Module):
    """Deep output with a maxout layer (Bahdanau et al. 2015, appendix A.2.2; Goodfellow et al. 2013).

    Each feature is the larger of two linear views of the previous piece, the state and the context.
    """

    def __init__(self, previous: int, state: int, context: int, *, width: int, dropout: float = 0.0):
        super().__init__()
        self.width = width
        self.linear = Linear(previous + state + context, 2 * width)
        self.dropout = Dropout(dropout)

    def forward(self, previous: Tensor, state: Tensor, context: Tensor) -> Tensor:
        views = self.linear(torch.cat([previous, state, context], dim=-1))  # ... 2D
        features: Tensor = self.dropout(views.view(*views.shape[:-1], self.width, 2).amax(dim=-1))  # ... D
        return features


class Tanh(nn.Module):
    """tanh(W[y; s; c]): an MLP over the previous piece, the state and the context."""

    def __init__(self, previous: int, state: int, context: int, *, width: int, dropout: float = 0.0):
        super().__init__()
        self.width = width
        self.linear = Linear(previous + state + context, width)
        self.dropout = Dropout(dropout)

    def forward(self, previous: Tensor, state: Tensor, context: Tensor) -> Tensor:
        features: Tensor = self.dropout(
            torch.tanh(self.linear(torch.cat([previous, state, context], dim=-1)))
        )
        return features


class Attentional(nn.Module):
    """tanh(W[c; s]), the attentional vector (Luong et al. 2015, equation 5). The previous piece is not read."""

    def __init__(self, previous: int, state: int, context: int, *, width: int, dropout: float = 0.0):
        super().__init__()
        self.width = width
        self.linear = Linear(context + state, width, bias=False)
        self.dropout = Dropout(dropout)

    def forward(self, previous: Tensor, state: Tensor, context: Tensor) -> Tensor:
        features: Tensor = self.dropout(torch.tanh(self.linear(torch.cat([context, state], dim=-1))))
        return features


class Deep(nn.Module):
    """y + Vs + Wc: the state and the context, added to the previous piece (Xu et al. 2015, equation 7).

    A piece that is not as wide as the features is projected to them.
    """

    def __init__(self, previous: int, state: int, context: int, *, width: int, dropout: float = 0.0):
        super().__init__()
        self.width = width
        self.piece = nn.Identity() if previous == width else Linear(previous, width, bias=False)
        self.linear = Linear(state + context, width)
        self.dropout = Dropout(dropout)

    def forward(self, previous: Tensor, state: Tensor, context: Tensor) -> Tensor:
        features: Tensor = self.dropout(
            self.piece(previous) + self.linear(torch.cat([state, context], dim=-1))
        )
        return features


class StateAlone(nn.Module):
    """The state as it is (Sutskever et al. 2014)."""

    def __init__(self, previous: int, state: int, context: int, *, width: int, dropout: float = 0.0):
        super().__init__()
        assert width == state, (width, state)
        self.width = width
        self.dropout = Dropout(dropout)

    def forward(self, previous: Tensor, state: Tensor, context: Tensor) -> Tensor:
        features: Tensor = self.dropout(state)
        return features


READOUTS = {"maxout": Maxout, "tanh": Tanh, "attentional": Attentional, "deep": Deep, "state": StateAlone}
