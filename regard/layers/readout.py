"""From what a decoder knows at a step to the features its head turns into logits."""

import torch
from torch import Tensor, nn


class Maxout(nn.Module):
    """Deep output with a maxout layer (Bahdanau et al. 2015, appendix A.2.2; Goodfellow et al. 2013).

    Each feature is the larger of two linear views of the previous piece, the state and the context.
    """

    def __init__(self, inputs: int, width: int, *, dropout: float = 0.0):
        super().__init__()
        self.width = width
        self.linear = nn.Linear(inputs, 2 * width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, *parts: Tensor) -> Tensor:
        views = self.linear(torch.cat(parts, dim=-1)).unflatten(-1, (self.width, 2))  # ... D 2
        features: Tensor = self.dropout(views.amax(dim=-1))  # ... D
        return features
