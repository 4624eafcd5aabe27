"""What stands between looks: each position by itself through two matrices, and the way around them."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn
from torch.nn import functional

from regard.core.load import Load
from regard.layers.dropout import Dropout
from regard.layers.linear import Linear

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "swiglu": functional.silu,
}
NORMS: dict[str, type[nn.Module]] = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}


class Thought(NamedTuple):
    vectors: Tensor  # as given
    load: Load | None = None  # of experts, in training


class FeedForward(nn.Module):
    """W₂ f(W₁x), for each position (Vaswani et al. 2017, section 3.3).

    `swiglu` multiplies it with a second view of the same position (Shazeer 2020): W₂ (silu(W₁x) ∘ Vx).
    """

    def __init__(self, width: int, inner: int, *, activation: str = "relu", dropout: float = 0.0):
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.gated = activation == "swiglu"
        blocks = 2 if self.gated else 1
        self.rise = Linear(width, blocks * inner, blocks=blocks)
        self.fall = Linear(inner, width)
        self.dropout = Dropout(dropout)

    def forward(self, vectors: Tensor, mask: Tensor | None = None) -> Thought:
        if self.gated:
            opened, view = self.rise(vectors).chunk(2, dim=-1)
            inner = self.activation(opened) * view
        else:
            inner = self.activation(self.rise(vectors))
        return Thought(self.fall(self.dropout(inner)))


class Residual(nn.Module):
    """The way around a part: x + f(norm(x)), or norm(x + f(x)) as in the first Transformer."""

    def __init__(self, width: int, *, norm: str = "layer", pre_norm: bool = True, dropout: float = 0.0):
        super().__init__()
        self.norm = NORMS[norm](width)
        self.pre_norm = pre_norm
        self.dropout = Dropout(dropout)

    def enter(self, vectors: Tensor) -> Tensor:
        """What the part is given."""
        return self._normed(vectors) if self.pre_norm else vectors

    def leave(self, vectors: Tensor, change: Tensor) -> Tensor:
        """What comes out, from what went in and what the part made of it."""
        total = vectors + self.dropout(change)
        return total if self.pre_norm else self._normed(total)

    def _normed(self, vectors: Tensor) -> Tensor:
        normed: Tensor = self.norm(vectors)
        return normed
