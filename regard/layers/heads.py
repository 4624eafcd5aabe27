"""Heads: from features to logits of the next piece."""

from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.core.pieces import BEGIN, PAD
from regard.core.state import Judged
from regard.layers.likelihood import judge, mixed
from regard.layers.linear import Linear


class Head(Linear):
    """Wx + b for all pieces of the vocabulary.

    A piece's row starts as long as its vector in a table does, about one, or longer, after Glorot, if pieces are few.
    With ten thousand of them Glorot's start is four times as short, and so is what the layers below are told: stacks of
    LSTMs then say little more than how frequent pieces are for hundreds of steps.
    """

    layer: int | None = None  # whose look at the source it must be given; none
    can_narrow = True  # whether it makes sense for some pieces alone

    def __init__(self, width: int, vocabulary: int):
        super().__init__(width, vocabulary)
        if vocabulary > width:
            nn.init.normal_(self.weight, std=width**-0.5)

    def features(self, vectors: Tensor, look: Tensor | None, source: Tensor | None) -> Any:
        """What it reads at each step: vectors (B T D), the look of its layer (B H T S), the source's ids (B S)."""
        return vectors

    def judge(self, features: Any, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Of N steps, against the pieces wanted (N)."""
        return judge(features, self, wanted, smoothing)

    def judge_said(self, said: Tensor, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        """Smoothing falls on the vocabulary: what else a source can say is not everybody's."""
        log_probabilities = functional.log_softmax(said.float(), dim=-1)  # N V
        likelihoods = log_probabilities.gather(-1, wanted[:, None])[:, 0]  # N
        total = -(1 - smoothing) * likelihoods.sum()
        if smoothing:
            total = total - smoothing * log_probabilities[:, : self.out_features].mean(dim=-1).sum()
        return Judged(total, likelihoods.detach())

    def draw(self, said: Tensor) -> Tensor:
        """A piece by chance: N. Never padding or the begin mark, which no answer has."""
        never = torch.tensor([PAD, BEGIN], device=said.device)
        possible = said.float().index_fill(-1, never, -torch.inf)  # N V
        return torch.multinomial(torch.softmax(possible, dim=-1), 1)[:, 0]  # N

    def narrowed(self, pieces: Tensor) -> "Head":
        """The same for some pieces (N) alone: it says N logits. For predicting."""
        narrow = copy(self)
        narrow._parameters = {
            name: nn.Parameter(own.detach()[pieces], requires_grad=False)
            for name, own in self.named_parameters()
        }
        narrow.out_features = len(pieces)
        if self.product is not None:
            narrow.product = type(self.product)(narrow.weight, narrow.bias)
        return narrow


@dataclass(frozen=True)
class Pointed:
    """Vectors, and where the decoder looked with them. An index takes some of the steps."""

    vectors: Tensor  # ... D
    look: Tensor  # ... S, one head's weights or their mean
    source: Tensor  # ... S, ids; beyond the vocabulary are words that only this source has

    def __getitem__(self, where: Any) -> "Pointed":
        return Pointed(self.vectors[where], self.look[where], self.source[where])


class Pointer(Head):
    """Says a piece of the vocabulary or one that stands in the source (See et al. 2017, section 2.2).

        g = σ(wx + b),  a the look at the source
        p(w) = (1 − (1 − g)·Σa)·softmax(Wx + b)_w + (1 − g)·Σ a_i over the places i where the source has w

    Where the look's weights sum to one, this is the paper's g·P + (1 − g)·copy. In one stream some of the look
    falls on the answer itself: that much is not copied. Words that the vocabulary does not know have ids behind
    it, counted for each source by itself, and only their own source can say them.
    """

    can_narrow = False  # what stands in the source may be any piece

    def __init__(self, width: int, vocabulary: int, *, layer: int = -1, head: int | None = None):
        super().__init__(width, vocabulary)
        self.layer = layer
        self.head = head  # of that layer's look; None: their mean
        self.gate = Linear(width, 1)

    def features(self, vectors: Tensor, look: Tensor | None, source: Tensor | None) -> Pointed:
        assert look is not None, "a pointer needs a look at the source"
        assert source is not None, "a pointer needs the source"
        one = look.mean(1) if self.head is None else look[:, self.head]  # B T S
        return Pointed(vectors, one, source[:, None].expand(one.shape))

    def forward(self, features: Pointed) -> Tensor:  # type: ignore[override]
        """Logarithms of probabilities, ... (V + E): E is the greatest number of words that a source adds."""
        logs = super().forward(features.vectors).float().log_softmax(-1)  # ... V
        copied, spoken = self._shares(features)  # ... S, ... 1
        highest = features.source.amax(-1, keepdim=True)  # ... 1
        beyond = max(0, int(highest.max()) + 1 - self.out_features) if highest.numel() else 0  # E
        room = logs.new_zeros(*logs.shape[:-1], self.out_features + beyond)
        together = mixed(
            functional.pad(logs, (0, beyond), value=-torch.inf),
            spoken,
            room.scatter_add(-1, features.source, copied),
        )  # ... (V + E)
        columns = torch.arange(room.shape[-1], device=room.device)
        foreign = columns > highest.clamp(min=self.out_features - 1)
        return together.masked_fill(foreign, -torch.inf)

    def judge(self, features: Pointed, wanted: Tensor, smoothing: float = 0.0) -> Judged:
        copied, spoken = self._shares(features)  # N S, N 1
        there = (copied * (features.source == wanted[:, None])).sum(-1)  # N
        return judge(features.vectors, self, wanted, smoothing, spoken=spoken[:, 0], copied=there)

    def _shares(self, features: Pointed) -> tuple[Tensor, Tensor]:
        """How likely each place is copied (... S), and how likely none of them is (... 1)."""
        copied = torch.sigmoid(-self.gate(features.vectors).float()) * features.look.float()  # ... S
        return copied, 1 - copied.sum(-1, keepdim=True)


Some = TypeVar("Some", bound=nn.Module)


def with_narrow_head(decoder: Some, pieces: Tensor) -> Some:
    """A decoder that has all its parts in common with this one but the head, which says some pieces alone."""
    narrow = copy(decoder)
    head = decoder.get_submodule("head")
    assert isinstance(head, Head)
    assert head.can_narrow
    narrow._modules = {**decoder._modules, "head": head.narrowed(pieces)}
    return narrow
