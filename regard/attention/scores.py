"""Score functions: how well a query fits a memory position. Names are formulas."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.core.errors import TooLongError
from regard.layers import Linear


def split_heads(vectors: Tensor, heads: int) -> Tensor:
    """B N (H K) -> B H N K"""
    return vectors.view(*vectors.shape[:-1], heads, -1).transpose(1, 2)


def merge_heads(vectors: Tensor) -> Tensor:
    """B H N K -> B N (H K)"""
    return vectors.transpose(1, 2).flatten(2)


class Dot(nn.Module):
    """q·k (Luong et al. 2015, section 3.1, "dot"). Query and memory must be equally wide."""

    def __init__(self, query_width: int, memory_width: int, *, heads: int = 1):
        super().__init__()
        assert query_width == memory_width, (query_width, memory_width)
        self.heads = heads

    def keys(self, annotations: Tensor) -> Tensor:
        return split_heads(annotations, self.heads)  # B H S K

    def queries(self, query: Tensor, steps: Tensor) -> Tensor:
        return split_heads(query, self.heads)  # B H T K

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return queries @ keys.transpose(-1, -2)  # B H T S


class ScaledDot(Dot):
    """q·k / √K (Vaswani et al. 2017, section 3.2.1), K being the width of one head."""

    def queries(self, query: Tensor, steps: Tensor) -> Tensor:
        queries = split_heads(query, self.heads)
        return queries / math.sqrt(queries.shape[-1])  # B H T K


class General(nn.Module):
    """qᵀWk (Luong et al. 2015, section 3.1, "general"). W belongs to the keys: applied once per source."""

    def __init__(self, query_width: int, memory_width: int, *, heads: int = 1):
        super().__init__()
        self.heads = heads
        self.weight = Linear(memory_width, query_width, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        return split_heads(self.weight(annotations), self.heads)  # B H S K

    def queries(self, query: Tensor, steps: Tensor) -> Tensor:
        return split_heads(query, self.heads)  # B H T K

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return queries @ keys.transpose(-1, -2)  # B H T S


class Additive(nn.Module):
    """v·tanh(Wq + Uk) (Bahdanau et al. 2015, appendix A.1.2). Each head has its own W, U and v."""

    def __init__(self, query_width: int, memory_width: int, *, heads: int = 1):
        super().__init__()
        self.heads = heads
        self.from_query = Linear(query_width, query_width, bias=False)
        self.from_memory = Linear(memory_width, query_width)
        self.scorer = nn.Parameter(torch.empty(heads, query_width // heads))
        nn.init.normal_(self.scorer, std=self.scorer.shape[1] ** -0.5)

    def keys(self, annotations: Tensor) -> Tensor:
        return split_heads(self.from_memory(annotations), self.heads)  # B H S K

    def queries(self, query: Tensor, steps: Tensor) -> Tensor:
        return split_heads(self.from_query(query), self.heads)  # B H T K

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        energy = torch.tanh(queries[:, :, :, None] + keys[:, :, None])  # B H T S K
        return (energy @ self.scorer[:, None, :, None]).squeeze(-1)  # B H T S


class Cosine(Dot):
    """β·cos(q, k) (content-based addressing, Graves et al. 2014, section 3.3.1), β > 0 learned for each head."""

    def __init__(self, query_width: int, memory_width: int, *, heads: int = 1):
        super().__init__(query_width, memory_width, heads=heads)
        # Where the scaled dot product of unit-variance vectors is.
        sharpness = math.sqrt(query_width // heads)
        self.sharpness = nn.Parameter(torch.full((heads,), inverse_softplus(sharpness)))

    def keys(self, annotations: Tensor) -> Tensor:
        return functional.normalize(split_heads(annotations, self.heads), dim=-1)  # B H S K

    def queries(self, query: Tensor, steps: Tensor) -> Tensor:
        directions = functional.normalize(split_heads(query, self.heads), dim=-1)  # B H T K
        return directions * functional.softplus(self.sharpness)[:, None, None]


class Rbf(Dot):
    """−γ‖q − k‖², the logarithm of a radial basis function; γ > 0 is learned for each head, or fixed."""

    def __init__(self, query_width: int, memory_width: int, *, heads: int = 1, gamma: float | None = None):
        super().__init__(query_width, memory_width, heads=heads)
        start = gamma if gamma is not None else 1 / math.sqrt(query_width // heads)
        raw = torch.full((heads,), inverse_softplus(start))
        self.raw_gamma = nn.Parameter(raw, requires_grad=gamma is None)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        gamma = functional.softplus(self.raw_gamma)[:, None, None]  # H 1 1
        squares = queries.square().sum(-1)[..., None] + keys.square().sum(-1)[:, :, None]  # B H T S
        return gamma * (2 * queries @ keys.transpose(-1, -2) - squares)  # B H T S


class _ByPosition(nn.Module):
    """A score that sees no memory: its queries are already the scores of the first `longest` positions."""

    def __init__(self, *, heads: int, longest: int):
        super().__init__()
        self.heads = heads
        self.longest = longest

    def keys(self, annotations: Tensor) -> Tensor:
        batch, source, _ = annotations.shape
        if not torch.compiler.is_exporting() and source > self.longest:
            raise TooLongError(
                f"This model scores by position and knows {self.longest} source positions, but a source has "
                f"{source} pieces. Shorten it, or train with a greater model.attention.longest."
            )
        return annotations.new_empty(batch, self.heads, source, 0)  # B H S 0: only its length counts

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return queries[..., : keys.shape[2]]  # B H T S


class Location(_ByPosition):
    """(Wq)ₛ (Luong et al. 2015, section 3.1, "location"): the query alone decides where to look."""

    def __init__(self, query_width: int, memory_width: int, *, heads: int = 1, longest: int):
        super().__init__(heads=heads, longest=longest)
        self.weight = Linear(query_width, heads * longest)

    def queries(self, query: Tensor, steps: Tensor) -> Tensor:
        return split_heads(self.weight(query), self.heads)  # B H T longest


class Position(_ByPosition):
    """A learned table over target and source positions: the naive first idea. It sees neither query nor memory."""

    def __init__(self, query_width: int, memory_width: int, *, heads: int = 1, longest: int):
        super().__init__(heads=heads, longest=longest)
        self.table = nn.Parameter(torch.zeros(longest, heads, longest))

    def queries(self, query: Tensor, steps: Tensor) -> Tensor:
        if not torch.compiler.is_exporting() and int(steps.max()) >= self.longest:
            raise TooLongError(
                f"This model scores by position and knows {self.longest} target positions. "
                "Lower search.max_length, or train with a greater model.attention.longest."
            )
        rows = self.table[steps].transpose(1, 2)  # B or 1, H T longest
        return rows.expand(query.shape[0], -1, -1, -1)  # B H T longest


def inverse_softplus(value: float) -> float:
    return value + math.log(-math.expm1(-value))
