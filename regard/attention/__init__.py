"""Attention: one formula with three slots.

    keys    = score.keys(memory)                       once per source
    scores  = score(query, keys)
    allowed = scope(step, query, memory)
    weights = selection(scores, allowed)
    context = weights @ values(memory)

One class and one line in a dict add a member; the contract tests run over the dicts.
"""

from collections.abc import Callable

from regard.attention.attention import Attended, Attention, FixedVector, Look
from regard.attention.block import Block
from regard.attention.cache import Cache
from regard.attention.context import TwoLooks
from regard.attention.gate import Gated
from regard.attention.history import History
from regard.attention.long_sources import CompressedSelfAttention, LocalSelfAttention
from regard.attention.multi_head import CrossAttention, Places, SelfAttention
from regard.attention.scopes import Causal, Global, LocalMonotonic, LocalPredicted, Window
from regard.attention.scores import Additive, Cosine, Dot, General, Location, Position, Rbf, ScaledDot
from regard.attention.selections import Hard, Nearest, Soft, Sparse
from regard.attention.slots import Allowed, Keys, Scope, Score, Selected, Selection

SCORES: dict[str, Callable[..., Score]] = {
    "dot": Dot,
    "scaled_dot": ScaledDot,
    "general": General,
    "additive": Additive,
    "cosine": Cosine,
    "rbf": Rbf,
    "location": Location,
    "position": Position,
}
SCOPES: dict[str, Callable[..., Scope]] = {
    "global": Global,
    "local_monotonic": LocalMonotonic,
    "local_predicted": LocalPredicted,
    "causal": Causal,
    "window": Window,
}
SELECTIONS: dict[str, Callable[..., Selection]] = {
    "soft": Soft,
    "sparse": Sparse,
    "hard": Hard,
    "nearest": Nearest,
}
LOOKS: dict[str, Callable[..., SelfAttention]] = {  # of a sequence at itself
    "full": SelfAttention,
    "local": LocalSelfAttention,
    "compressed": CompressedSelfAttention,
}
ALIASES = {"bahdanau": "additive", "luong": "general", "concat": "additive"}  # names of papers -> formulas

__all__ = [
    "ALIASES",
    "LOOKS",
    "SCOPES",
    "SCORES",
    "SELECTIONS",
    "Allowed",
    "Attended",
    "Attention",
    "Block",
    "Cache",
    "CompressedSelfAttention",
    "CrossAttention",
    "FixedVector",
    "Gated",
    "History",
    "Keys",
    "LocalSelfAttention",
    "Look",
    "Places",
    "Scope",
    "Score",
    "Selected",
    "Selection",
    "SelfAttention",
    "TwoLooks",
]
