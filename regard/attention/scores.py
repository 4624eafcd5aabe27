"""Score functions: how well a query fits a memory position. Names are formulas."""

import math

import torch
from torch import Tensor, nn


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

    def queries(self, query: Tensor) -> Tensor:
        return split_heads(query, self.heads)  # B H T K

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return queries @ keys.transpose(-1, -2)  # B H T S


class ScaledDot(Dot):
    """q·k / √K (Vaswani et al. 2017, section 3.2.1), K being the width of one head."""

    def queries(self, query: Tensor) -> Tensor:
        queries = split_heads(query, self.heads)
        return queries / math.sqrt(queries.shape[-1])  # B H T K


class General(nn.Module):
    """qᵀWk (Luong et al. 2015, section 3.1, "general"). W belongs to the keys: applied once per source."""

    def __init__(self, query_width: int, memory_width: int, *, heads: int = 1):
        super().__init__()
        self.heads = heads
        self.weight = nn.Linear(memory_width, query_width, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        return split_heads(self.weight(annotations), self.heads)  # B H S K

    def queries(self, query: Tensor) -> Tensor:
        return split_heads(query, self.heads)  # B H T K

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return queries @ keys.transpose(-1, -2)  # B H T S


class Additive(nn.Module):
    """v·tanh(Wq + Uk) (Bahdanau et al. 2015, appendix A.1.2). Each head has its own W, U and v."""

    def __init__(self, query_width: int, memory_width: int, *, heads: int = 1):
        super().__init__()
        self.heads = heads
        self.from_query = nn.Linear(query_width, query_width, bias=False)
        self.from_memory = nn.Linear(memory_width, query_width)
        self.scorer = nn.Parameter(torch.empty(heads, query_width // heads))
        nn.init.normal_(self.scorer, std=self.scorer.shape[1] ** -0.5)

    def keys(self, annotations: Tensor) -> Tensor:
        return split_heads(self.from_memory(annotations), self.heads)  # B H S K

    def queries(self, query: Tensor) -> Tensor:
        return split_heads(self.from_query(query), self.heads)  # B H T K

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        energy = torch.tanh(queries[:, :, :, None] + keys[:, :, None])  # B H T S K
        return (energy @ self.scorer[:, None, :, None]).squeeze(-1)  # B H T S
