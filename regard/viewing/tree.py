"""The beam of a prediction as a tree: which hypotheses are shown, and where."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from regard.core.pieces import END, SPECIAL_PIECES
from regard.core.prediction import BeamNode, Prediction

_SPARE_ROWS = 3  # beyond the fullest step: room for branches to run straight


@dataclass(frozen=True)
class BeamTree:
    """Hypotheses by their numbers in `nodes`. One that is shown is shown with all that it goes on from."""

    nodes: tuple[BeamNode, ...]
    answer: tuple[int, ...]  # from the first step to the last; empty where the answer is not in the tree
    shown: frozenset[int]

    @cached_property
    def children(self) -> dict[int | None, list[int]]:
        """What is shown, by parent: first the answer's, then in the order of the search, the likeliest first."""
        found: dict[int | None, list[int]] = {None: []}
        for number in sorted(self.shown, key=lambda number: (number not in self.answer, number)):
            found.setdefault(self.nodes[number].parent, []).append(number)
        return found

    @property
    def columns(self) -> list[list[int]]:
        """What is shown, by step and from top to bottom. Children stand in the order of their parents."""
        columns = [self.children[None]]
        while following := [child for number in columns[-1] for child in self.children.get(number, ())]:
            columns.append(following)
        return columns

    @property
    def rows(self) -> dict[int, int]:
        """The row of each hypothesis in its column: no two share one, and no edges cross.

        A hypothesis goes on in the row of its parent where that is free, so the answer runs along the top.
        """
        columns = self.columns
        height = max(map(len, columns)) + _SPARE_ROWS
        rows: dict[int, int] = {}
        for column in columns:
            row = -1
            for place, number in enumerate(column):
                parent = self.nodes[number].parent
                wanted = 0 if parent is None else rows[parent]
                last = height - (len(column) - place)  # what comes after still has to fit
                row = rows[number] = max(row + 1, min(wanted, last))
        return rows

    @property
    def painted(self) -> list[int]:
        """The order in which lines are painted: the answer's last, over those that leave from the same places."""
        return sorted(
            self.shown,
            key=lambda number: (number in self.answer, self.nodes[number].fate != "pruned", number),
        )

    def closeness(self, number: int) -> float:
        """How likely it is, measured by the likeliest hypothesis of its step: from 0 to 1."""
        node = self.nodes[number]
        return math.exp(node.score - self._best[node.step])

    @cached_property
    def _best(self) -> dict[int, float]:
        return _best(self.nodes)

    @property
    def left_out(self) -> int:
        return len(self.nodes) - len(self.shown)

    @property
    def summary(self) -> str:
        """How many there were of each fate, in a sentence."""
        fates = [node.fate for node in self.nodes]
        told = ", ".join(f"{fates.count(fate):,} {fate}" for fate in ("kept", "finished", "pruned"))
        steps = max(node.step for node in self.nodes)
        return f"{len(self.nodes):,} hypotheses in {steps:,} {'step' if steps == 1 else 'steps'}: {told}."


def beam_tree(prediction: Prediction, most: int) -> BeamTree | None:
    """The tree with at most so many hypotheses shown, the whole answer in any case; None where none was recorded.

    Before others come those that lead to a finished answer, then those that were closest to the best of their step.
    """
    nodes = prediction.beam
    if not nodes:
        return None
    answer = _answer(prediction, nodes)
    shown = range(len(nodes)) if len(nodes) <= most else _foremost(nodes, answer, most)
    return BeamTree(nodes, answer, frozenset(shown))


def _answer(prediction: Prediction, nodes: Sequence[BeamNode]) -> tuple[int, ...]:
    """The path of the answer; of several with its pieces, that with its score."""
    pieces = [*prediction.pieces, *([SPECIAL_PIECES[END]] if prediction.finished else [])]
    ends = [number for number, node in enumerate(nodes) if node.step == len(pieces)]
    ends.sort(key=lambda end: abs(nodes[end].score - prediction.score))
    paths = (_path(nodes, end) for end in ends)
    return next((tuple(path) for path in paths if [nodes[number].piece for number in path] == pieces), ())


def _foremost(nodes: Sequence[BeamNode], answer: Sequence[int], most: int) -> set[int]:
    best = _best(nodes)

    def behind(number: int) -> tuple[bool, float]:
        node = nodes[number]
        return (False, -node.rank) if node.fate == "finished" else (True, best[node.step] - node.score)

    shown = set(answer)
    for number in sorted(range(len(nodes)), key=behind):
        if len(shown) >= most:
            break
        new = set(_path(nodes, number)) - shown
        if len(shown) + len(new) <= most:
            shown |= new
    return shown


def _best(nodes: Sequence[BeamNode]) -> dict[int, float]:
    best: dict[int, float] = {}
    for node in nodes:
        best[node.step] = max(node.score, best.get(node.step, node.score))
    return best


def _path(nodes: Sequence[BeamNode], number: int) -> list[int]:
    path: list[int] = []
    at: int | None = number
    while at is not None:
        path.append(at)
        at = nodes[at].parent
    return path[::-1]
