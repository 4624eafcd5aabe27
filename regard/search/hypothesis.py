"""Hypotheses, and the trail that leads back from one to its first step."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from regard.core.state import Looks


@dataclass(frozen=True)
class Hypothesis:
    """An answer of a search."""

    tokens: tuple[int, ...]  # ends with the end mark when finished
    score: float  # log-probability of all its tokens
    rank: float  # what the search ordered it by
    finished: bool  # False: cut off at the longest length allowed
    attention: Mapping[str, Tensor] = field(repr=False)  # kind -> layers, heads, target, source


class Trail:
    """Who came from whom, step by step, and where each step looked.

    Nothing is moved while the search goes on: every row of a step remembers its parent row in the
    step before, and an answer's tokens and attention are read off by walking back. So attention
    follows its hypothesis through every re-ordering, and rows may leave the batch at any time.
    """

    def __init__(self) -> None:
        self._parents: list[Tensor] = []  # per step: for each row, the row of the step before
        self._tokens: list[Tensor] = []  # per step: the piece each row was fed
        self._looks: list[Looks] = []  # per step: where each row looked to choose the next piece

    def step(self, parents: Tensor, tokens: Tensor, looks: Looks) -> None:
        self._parents.append(parents)
        self._tokens.append(tokens)
        self._looks.append(looks)

    def trace(self, row: int, last: int) -> tuple[tuple[int, ...], dict[str, Tensor]]:
        """The answer that chose `last` at `row` of the newest step: its tokens and its attention."""
        tokens, rows = [last], [row]
        for number in range(len(self._parents) - 1, 0, -1):
            tokens.append(int(self._tokens[number][row]))
            row = int(self._parents[number][row])
            rows.append(row)
        rows.reverse()
        attention = {
            kind: torch.stack([looks[kind][r] for looks, r in zip(self._looks, rows, strict=True)], dim=-2)
            for kind in self._looks[0]
        }  # each L H T S
        return tuple(reversed(tokens)), attention
