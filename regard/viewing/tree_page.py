"""The beam as a part of the stand-alone page: a drawing with steps from left to right."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape

from regard.core.prediction import Prediction
from regard.viewing.labels import columns, label
from regard.viewing.tree import BeamTree, beam_tree

MOST = 1000  # hypotheses, unless the answer itself is longer

# Pixels. Letters are set in a monospaced font so that their width is known.
_LETTER, _PAD, _NARROWEST, _BOX, _ROW = 7.7, 9, 30, 22, 29
_TOP, _EDGE, _START = 34, 6, 5

_NAMES = {"answer": "in the answer", "kept": "kept", "finished": "finished", "pruned": "pruned"}


def tree_page(prediction: Prediction) -> str:
    """A section of HTML; nothing where no beam was recorded. Pieces enter as escaped texts, never as markup."""
    tree = beam_tree(prediction, MOST)
    if tree is None:
        return ""
    left_out = f" The {tree.left_out:,} least likely are not drawn." if tree.left_out else ""
    return (
        '<section class="beam" aria-labelledby="beam-name">'
        f'<div class="bar"><h2 id="beam-name">Beam</h2>{_legend()}</div>'
        f'<p id="branch">{tree.summary}{left_out}</p>'
        f'<div class="branches" tabindex="-1">{_Drawing(tree).svg()}</div>'
        '<p class="hint">Steps go from left to right. The thicker a line, the closer its hypothesis is to the '
        "likeliest of its step. Point at a piece for its numbers and its path; arrow keys move.</p></section>"
    )


@dataclass(frozen=True)
class _Drawing:
    tree: BeamTree

    def svg(self) -> str:
        width = self._lefts[-1] - self._gap + _EDGE
        height = self._middle(max(self._rows.values()) + 0.5)
        heads = "".join(
            f'<text class="step" x="{left + 1:g}" y="14">{step}</text>'
            for step, left in enumerate(self._lefts[:-1], start=1)
        )
        start = f'<circle class="start" cx="{_EDGE + _START}" cy="{self._middle(0):g}" r="{_START}"/>'
        return (
            f'<svg width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"><g aria-hidden="true">'
            f'<text class="step" x="0" y="14">step</text>{heads}'
            f'{"".join(self._edges())}<path class="trail"/>{start}</g>'
            f'<g role="tree" aria-label="Hypotheses of the beam">{"".join(self._nodes())}</g></svg>'
        )

    @cached_property
    def _rows(self) -> dict[int, int]:
        return self.tree.rows

    @cached_property
    def _gap(self) -> float:
        """Between two columns: the more rows, the more lines have to fit."""
        return min(80.0, 28 + 1.5 * max(self._rows.values()))

    @cached_property
    def _lefts(self) -> list[float]:
        """Where the column of each step begins, and where the one after the last would."""
        lefts = [_EDGE + 2 * _START + self._gap]
        for column in self.tree.columns:
            lefts.append(lefts[-1] + max(map(self._width, column)) + self._gap)
        return lefts

    def _edges(self) -> Iterator[str]:
        """The answer's last, over those that leave from the same places."""
        tree, best = self.tree, self.tree.best
        for number in sorted(tree.shown, key=lambda n: (n in tree.answer, tree.nodes[n].fate != "pruned", n)):
            node = tree.nodes[number]
            thickness = 1 + 2 * math.exp(node.score - best[node.step])
            yield (
                f'<path class="edge {self._kind(number)}" data-number="{number}" d="{self._edge(number)}" '
                f'stroke-width="{thickness:.2f}"/>'
            )

    def _nodes(self) -> Iterator[str]:
        """Depth first, as they are read aloud."""
        tree = self.tree
        waiting = tree.children[None][::-1]
        first = waiting[-1]
        while waiting:
            number = waiting.pop()
            node = tree.nodes[number]
            parent = "" if node.parent is None else f' data-parent="{node.parent}"'
            box = _box(
                label(node.piece), node.fate, self._left(number), self._width(number), self._at(number)
            )
            yield (
                f'<g class="node {self._kind(number)}" role="treeitem" aria-level="{node.step}" '
                f'tabindex="{0 if number == first else -1}" data-number="{number}"{parent}>'
                f"<title>{escape(self._told(number))}</title>{box}</g>"
            )
            waiting += tree.children.get(number, [])[::-1]

    def _edge(self, number: int) -> str:
        """From the parent straight to the end of its column, so as to cross no box, then over to the row."""
        parent, end, goal = self.tree.nodes[number].parent, self._left(number), self._at(number)
        if parent is None:
            begin, start = float(_EDGE + 2 * _START), self._middle(0)
        else:
            begin, start = self._left(parent) + self._width(parent), self._at(parent)
        turn, half = end - self._gap, end - self._gap / 2
        return f"M{begin:g} {start:g}H{turn:g}C{half:g} {start:g} {half:g} {goal:g} {end:g} {goal:g}"

    def _told(self, number: int) -> str:
        tree, node = self.tree, self.tree.nodes[number]
        before = 0.0 if node.parent is None else tree.nodes[node.parent].score
        fate = _NAMES["answer"] if number in tree.answer else node.fate
        return (
            f"“{label(node.piece)}”, step {node.step}, {'the answer' if number in tree.answer[-1:] else fate}: "
            f"log-probability {_number(node.score)}, rank {_number(node.rank)}; "
            f"probability of this piece here {100 * math.exp(node.score - before):.1f} %"
        )

    def _kind(self, number: int) -> str:
        """What a hypothesis is called in the style: its fate, and whether it is in the answer."""
        return escape(self.tree.nodes[number].fate) + (" answer" if number in self.tree.answer else "")

    def _left(self, number: int) -> float:
        return self._lefts[self.tree.nodes[number].step - 1]

    def _width(self, number: int) -> float:
        return max(_NARROWEST, columns(label(self.tree.nodes[number].piece)) * _LETTER + 2 * _PAD)

    def _at(self, number: int) -> float:
        return self._middle(self._rows[number])

    @staticmethod
    def _middle(row: float) -> float:
        return _TOP + _ROW * (row + 0.5)


def _box(name: str, fate: str, left: float, wide: float, middle: float) -> str:
    """A label in its outline; in two, as accepting states have, where a hypothesis finished."""
    outlines = f'<rect class="box" {_rectangle(left, middle, wide, _BOX)} rx="6"/>'
    if fate == "finished":
        outlines += f'<rect class="inner" {_rectangle(left + 3, middle, wide - 6, _BOX - 6)} rx="3.5"/>'
    return f'{outlines}<text x="{left + wide / 2:g}" y="{middle + 4:g}">{escape(name)}</text>'


def _rectangle(left: float, middle: float, wide: float, high: float) -> str:
    return f'x="{left:g}" y="{middle - high / 2:g}" width="{wide:g}" height="{high:g}"'


def _legend() -> str:
    """Each kind of hypothesis as it is drawn, with its name."""
    items = (
        f'<li><svg width="40" height="24" aria-hidden="true"><path class="edge {kind}" d="M0 12H9" stroke-width="2"/>'
        f'<g class="node {kind}">{_box("a", kind, 9, 30, 12)}</g></svg>{name}</li>'
        for kind, name in _NAMES.items()
    )
    return f'<ul class="kinds">{"".join(items)}</ul>'


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")
