"""What was looked at before, as part of the score."""

import torch
from torch import Tensor, nn


class History(nn.Module):
    """k_i + c_i·w: a key knows how much weight it has had so far (coverage, See et al. 2017, section 2.3).

    With the additive score this is the paper's v·tanh(Wq + Uk + w·c). Any score that reads its keys can have
    it. w is learned for each head and starts at zero: as if there were no history.
    """

    def __init__(self, width: int, *, heads: int = 1):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(heads, width // heads))

    def forward(self, keys: Tensor, seen: Tensor) -> Tensor:
        """B H S K, B H S -> B H S K."""
        return keys + (seen[..., None] * self.weight[:, None]).to(keys.dtype)
