"""The formula, once: score, scope, selection and the weighted memory."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.attention import short
from regard.attention.history import History
from regard.attention.scopes import Causal, Global
from regard.attention.scores import ScaledDot, merge_heads, split_heads
from regard.attention.selections import Soft
from regard.attention.slots import Allowed, Keys, Remembered, Scope, Score, Selection
from regard.core.memory import Memory
from regard.core.state import Choice
from regard.layers import Dropout


@dataclass(frozen=True)
class Attended:
    context: Tensor  # B T D, the weighted memory
    # B H T S, rows sum to one; None where nobody wants them or there is nothing to choose.
    weights: Tensor | None
    choice: Choice | None = None
    beside: Tensor | None = None  # B H T C, of the look at what stands beside the memory, where there is one


class Look(Protocol):
    """How a decoder looks at its memory."""

    width: int  # of the context

    def begin(self, memory: Memory) -> Any:
        """What it looks at: keys of which rows can be selected."""
        ...

    def unseen(self, keys: Any) -> Tensor | None:
        """What was looked at before the first step (B H S, zeros), if it remembers that."""
        ...

    def __call__(
        self, query: Tensor, keys: Any, steps: Tensor, *, seen: Tensor | None = None
    ) -> Attended: ...


class Attention(nn.Module):
    """Looks at a memory with a query. The weights are returned, never kept.

    The three parts are modules of the families `SCORES`, `SCOPES` and `SELECTIONS`; any of them
    goes with any number of heads. Where nobody wants the weights, torch's fused kernel or a `short` look gives
    the same context for the parts that they know. `dropout` falls on the weights in training. With a `history`
    the keys know how much they were looked at before.
    """

    def __init__(
        self,
        score: Score,
        scope: Scope,
        selection: Selection,
        *,
        width: int,
        heads: int = 1,
        dropout: float = 0.0,
        history: History | None = None,
    ):
        super().__init__()
        self.score = score
        self.scope = scope
        self.selection = selection
        self.width = width
        self.heads = heads
        self.dropout = Dropout(dropout)
        self.history = history
        # Of these alone: a subclass may have a formula of its own.
        known = type(score) is ScaledDot and type(selection) is Soft
        self.fused = known and isinstance(scope, Causal | Global)  # there, something is always allowed

    def begin(self, memory: Memory) -> Keys:
        return self.prepare(memory.annotations, memory.mask, memory.values)

    def prepare(self, annotations: Tensor, mask: Tensor, values: Tensor | None = None) -> Keys:
        """Everything that depends on the memory alone (B S D, B S, and B S D where other values stand for it)."""
        values = annotations if values is None else values
        return Keys(self.score.keys(annotations), split_heads(values, self.heads), mask)

    def unseen(self, keys: Keys) -> Tensor | None:
        """In float32: under autocast small looks would soon add nothing to what was seen."""
        if self.history is None:
            return None
        return torch.zeros_like(
            keys.keys[..., 0], dtype=torch.promote_types(keys.keys.dtype, torch.float32)
        )  # B H S

    def forward(
        self, query: Tensor, keys: Keys, steps: Tensor, *, wanted: bool = True, seen: Tensor | None = None
    ) -> Attended:
        if self.history is not None and seen is not None:
            own = keys.apart()
            keys = replace(own, keys=self.history(own.keys, seen))
        if keys.share > 1:
            return self._together(query, keys, steps, wanted=wanted)
        allowed = self.scope(steps, query, keys.mask)
        return self.attend(self.score.queries(query, steps), keys, allowed, wanted=wanted)

    def _together(self, query: Tensor, keys: Keys, steps: Tensor, *, wanted: bool) -> Attended:
        """Rows that look at the same do so as if they were steps of one row."""
        rows, length, width = query.shape
        folded = query.reshape(-1, keys.share * length, width)  # N (share T) Q
        every = steps.expand(rows, length).reshape(-1, keys.share * length)
        attended = self.forward(folded, replace(keys, share=1), every, wanted=wanted)
        weights = attended.weights
        choice = attended.choice
        return Attended(
            attended.context.reshape(rows, length, -1),
            weights if weights is None else _unfolded(weights, length),
            choice
            if choice is None
            else Choice(_unfolded(choice.log_probability, length), _unfolded(choice.entropy, length)),
        )

    def attend(self, queries: Tensor, keys: Remembered, allowed: Allowed, *, wanted: bool = True) -> Attended:
        """With queries that are ready (B H T K) and a scope that is known."""
        if self.fused and not wanted:
            return Attended(merge_heads(self._fused(queries, keys, allowed)), None)
        scores = self.score(queries, keys.keys)  # B H T S
        if allowed.prior is not None:
            scores = scores + allowed.prior
        selected = self.selection(scores, allowed.mask)  # B H T S
        context = merge_heads(self.dropout(selected.weights) @ keys.values)  # B T D
        return Attended(context, selected.weights, selected.choice)

    def _fused(self, queries: Tensor, keys: Remembered, allowed: Allowed) -> Tensor:
        rate = self.dropout.rate if self.training else 0.0
        if queries.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
            with torch.autocast("cpu", enabled=False):  # the way back is several times slower in bfloat16
                return _fused(queries.float(), keys.keys.float(), keys.values.float(), allowed, rate)
        return _fused(queries, keys.keys, keys.values, allowed, rate)


def _fused(queries: Tensor, keys: Tensor, values: Tensor, allowed: Allowed, dropout: float) -> Tensor:
    """The context (B H T V) of queries that are scaled already."""
    if not dropout and short.is_short(queries, keys, allowed):
        return short.look(queries, keys, values, allowed)
    mask = allowed.mask
    if allowed.prior is not None:
        mask = torch.where(mask, allowed.prior, -torch.inf).to(queries.dtype)
    return functional.scaled_dot_product_attention(
        queries, keys, values, attn_mask=mask, dropout_p=dropout, scale=1.0
    )


def _unfolded(looks: Tensor, length: int) -> Tensor:
    """N H (share T) ... -> (N share) H T ..."""
    sources, heads, every, *rest = looks.shape
    return looks.reshape(sources, heads, every // length, length, *rest).transpose(1, 2).flatten(0, 1)


class FixedVector(nn.Module):
    """No attention: the source as one vector, the same at every step (Cho et al. 2014).

    With width 0 not even that: the summary only starts the decoder (Sutskever et al. 2014).
    """

    def __init__(self, *, width: int):
        super().__init__()
        self.width = width

    def begin(self, memory: Memory) -> Keys:
        vector = memory.summary[:, None, -1:, 0, : self.width]  # B 1 1 D
        return Keys(vector, vector, memory.mask[:, :1])

    def unseen(self, keys: Keys) -> Tensor | None:
        return None

    def forward(self, query: Tensor, keys: Keys, steps: Tensor, *, seen: Tensor | None = None) -> Attended:
        context = keys.apart().values[:, 0].expand(-1, query.shape[1], -1)  # B T D
        return Attended(context, None)
