"""Attention: one formula with three slots.

    keys    = score.keys(memory)                       once per source
    scores  = score(query, keys)
    allowed = scope(step, query, memory)
    weights = selection(scores, allowed)
    context = weights @ values(memory)

One class and one line in a dict add a member; the contract tests run over the dicts.
"""

from collections.abc import Callable

from regard.attention.attention import Attended, Attention
from regard.attention.scopes import Global
from regard.attention.scores import Additive, Dot, General, ScaledDot
from regard.attention.selections import Soft
from regard.attention.slots import Allowed, Keys, Scope, Score, ScoreFamily, Selection

SCORES: dict[str, ScoreFamily] = {
    "dot": Dot,
    "scaled_dot": ScaledDot,
    "general": General,
    "additive": Additive,
}
SCOPES: dict[str, Callable[[], Scope]] = {"global": Global}
SELECTIONS: dict[str, Callable[[], Selection]] = {"soft": Soft}

__all__ = [
    "SCOPES",
    "SCORES",
    "SELECTIONS",
    "Allowed",
    "Attended",
    "Attention",
    "Keys",
    "Scope",
    "Score",
    "Selection",
]
