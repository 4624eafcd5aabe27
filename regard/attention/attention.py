"""The formula, once: score, scope, selection and the weighted memory."""

from dataclasses import dataclass

from torch import Tensor, nn

from regard.attention.scores import merge_heads, split_heads
from regard.attention.slots import Keys, Scope, Score, Selection


@dataclass(frozen=True)
class Attended:
    context: Tensor  # B T D, the weighted memory
    weights: Tensor  # B H T S, rows sum to one


class Attention(nn.Module):
    """Looks at a memory with a query. The weights are returned, never kept.

    The three parts are modules of the families `SCORES`, `SCOPES` and `SELECTIONS`; any of them
    goes with any number of heads.
    """

    def __init__(self, score: Score, scope: Scope, selection: Selection, *, heads: int = 1):
        super().__init__()
        self.score = score
        self.scope = scope
        self.selection = selection
        self.heads = heads

    def prepare(self, annotations: Tensor, mask: Tensor) -> Keys:
        """Everything that depends on the memory alone (B S D, B S)."""
        return Keys(self.score.keys(annotations), split_heads(annotations, self.heads), mask)

    def forward(self, query: Tensor, keys: Keys, steps: Tensor) -> Attended:
        scores = self.score(self.score.queries(query), keys.keys)  # B H T S
        allowed = self.scope(steps, query, keys.mask)
        if allowed.prior is not None:
            scores = scores + allowed.prior
        weights = self.selection(scores, allowed.mask)  # B H T S
        return Attended(merge_heads(weights @ keys.values), weights)
