"""Where the hypotheses of a beam and the lines between them stand in a drawing."""

from dataclasses import dataclass
from functools import cached_property

from regard.viewing.labels import columns, label
from regard.viewing.tree import BeamTree

# Pixels. Letters are set in a monospaced font so that their width is known.
LETTER_SIZE, BOX_HEIGHT, START_RADIUS = 12.5, 22, 5
_LETTER, _PAD, _NARROWEST, _ROW, _TOP, _MARGIN = 7.7, 9, 30, 29, 34, 6


@dataclass(frozen=True)
class Edge:
    """From the parent straight to the end of its column, so as to cross no box, then in a curve over to the child."""

    begin: tuple[float, float]
    turn: tuple[float, float]
    end: tuple[float, float]

    @property
    def controls(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The inner points of the cubic curve from `turn` to `end`, which leaves and arrives level."""
        half = (self.turn[0] + self.end[0]) / 2
        return (half, self.turn[1]), (half, self.end[1])


@dataclass(frozen=True)
class TreePlaces:
    """In pixels from the upper left corner: a column for each step, wide enough for its labels."""

    tree: BeamTree

    @property
    def size(self) -> tuple[float, float]:
        return self.lefts[-1] - self._gap + _MARGIN, _middle(max(self._rows.values()) + 0.5)

    @property
    def start(self) -> tuple[float, float]:
        """The middle of the mark where every hypothesis begins."""
        return _MARGIN + START_RADIUS, _middle(0)

    @cached_property
    def lefts(self) -> list[float]:
        """Where the column of each step begins, and where the one after the last would."""
        lefts = [self.start[0] + START_RADIUS + self._gap]
        for column in self.tree.columns:
            lefts.append(lefts[-1] + max(map(self.width, column)) + self._gap)
        return lefts

    def left(self, number: int) -> float:
        return self.lefts[self.tree.nodes[number].step - 1]

    def width(self, number: int) -> float:
        return max(_NARROWEST, columns(label(self.tree.nodes[number].piece)) * _LETTER + 2 * _PAD)

    def middle(self, number: int) -> float:
        return _middle(self._rows[number])

    def edge(self, number: int) -> Edge:
        parent, end = self.tree.nodes[number].parent, (self.left(number), self.middle(number))
        begin = (self.start[0] + START_RADIUS, self.start[1])
        if parent is not None:
            begin = (self.left(parent) + self.width(parent), self.middle(parent))
        return Edge(begin, (end[0] - self._gap, begin[1]), end)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return self.tree.rows

    @cached_property
    def _gap(self) -> float:
        """Between two columns: the more rows, the more lines have to fit."""
        return min(80.0, 28 + 1.5 * max(self._rows.values()))


def _middle(row: float) -> float:
    return _TOP + _ROW * (row + 0.5)
