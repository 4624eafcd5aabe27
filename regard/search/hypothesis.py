"""Hypotheses, and the trail that leads back from one to its first step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from regard.core.state import Looks
from regard.search.tree import Tree


@dataclass(frozen=True)
class Hypothesis:
    """An answer of a search."""

    tokens: tuple[int, ...]  # ends with the end mark when finished
    score: float  # log-probability of all its tokens
    rank: float  # what the search ordered it by
    finished: bool  # False: cut off at the longest length allowed
    attention: Mapping[str, Tensor] = field(repr=False)  # kind -> layers, heads, target, source


@dataclass(frozen=True)
class Found:
    """What a search found for one source."""

    hypotheses: tuple[Hypothesis, ...]  # best first; none, where no answer could keep the rules
    tree: Tree | None = None


@dataclass(frozen=True)
class Ending:
    """Where a hypothesis ended: enough to read it off the trail, if it turns out to be an answer."""

    step: int  # counted from 1, so it is the answer's length too
    row: int
    token: int  # the last one
    score: float
    rank: float
    finished: bool


class Trail:
    """Who came from whom, step by step, and where each step looked.

    Nothing is moved while the search goes on: every row of a step remembers its parent row in the
    step before, and an answer's tokens and attention are read off by walking back. So attention
    follows its hypothesis through every re-ordering, and rows may leave the batch at any time.
    """

    def __init__(self) -> None:
        self._parents: list[Sequence[int]] = []  # per step: for each row, the row of the step before
        self._tokens: list[Sequence[int]] = []  # per step: the piece each row was fed
        self._looks: list[Looks] = []  # per step: where each row looked to choose the next piece

    def step(self, parents: Sequence[int], tokens: Sequence[int], looks: Looks) -> None:
        self._parents.append(parents)
        self._tokens.append(tokens)
        self._looks.append(looks)

    def trace(self, ending: Ending) -> Hypothesis:
        """The whole answer that ended there."""
        tokens, rows = [ending.token], [ending.row]
        for number in range(ending.step - 1, 0, -1):
            tokens.append(self._tokens[number][rows[-1]])
            rows.append(self._parents[number][rows[-1]])
        path = list(zip(self._looks, reversed(rows), strict=False))  # others may have gone further
        attention = {
            kind: pad_sequence([looks[kind][row].movedim(-1, 0) for looks, row in path]).movedim(
                (0, 1), (-1, -2)
            )
            for kind in self._looks[0]
        }  # each L H T S; a look at itself sees more at every step
        return Hypothesis(tuple(reversed(tokens)), ending.score, ending.rank, ending.finished, attention)
