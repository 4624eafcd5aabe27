"""The formula, once: score, scope, selection and the weighted memory."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor, nn

from regard.attention.scores import merge_heads, split_heads
from regard.attention.slots import Keys, Scope, Score, Selection
from regard.core.memory import Memory
from regard.core.state import Choice


@dataclass(frozen=True)
class Attended:
    context: Tensor  # B T D, the weighted memory
    weights: Tensor | None  # B H T S, rows sum to one; None where there is nothing to choose from
    choice: Choice | None = None


class Look(Protocol):
    """How a decoder looks at its memory."""

    width: int  # of the context

    def begin(self, memory: Memory) -> Keys: ...

    def __call__(self, query: Tensor, keys: Keys, steps: Tensor) -> Attended: ...


class Attention(nn.Module):
    """Looks at a memory with a query. The weights are returned, never kept.

    The three parts are modules of the families `SCORES`, `SCOPES` and `SELECTIONS`; any of them
    goes with any number of heads.
    """

    def __init__(self, score: Score, scope: Scope, selection: Selection, *, width: int, heads: int = 1):
        super().__init__()
        self.score = score
        self.scope = scope
        self.selection = selection
        self.width = width
        self.heads = heads

    def begin(self, memory: Memory) -> Keys:
        return self.prepare(memory.annotations, memory.mask)

    def prepare(self, annotations: Tensor, mask: Tensor) -> Keys:
        """Everything that depends on the memory alone (B S D, B S)."""
        return Keys(self.score.keys(annotations), split_heads(annotations, self.heads), mask)

    def forward(self, query: Tensor, keys: Keys, steps: Tensor) -> Attended:
        scores = self.score(self.score.queries(query, steps), keys.keys)  # B H T S
        allowed = self.scope(steps, query, keys.mask)
        if allowed.prior is not None:
            scores = scores + allowed.prior
        selected = self.selection(scores, allowed.mask)  # B H T S
        return Attended(merge_heads(selected.weights @ keys.values), selected.weights, selected.choice)


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

    def forward(self, query: Tensor, keys: Keys, steps: Tensor) -> Attended:
        context = keys.values[:, 0].expand(-1, query.shape[1], -1)  # B T D
        return Attended(context, None)
