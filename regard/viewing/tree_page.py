"""The beam as a part of the stand-alone page: a drawing with steps from left to right."""

import math
from collections.abc import Iterator
from html import escape

from regard.core.prediction import Prediction
from regard.viewing.labels import label
from regard.viewing.tree import BeamTree, beam_tree
from regard.viewing.tree_places import BOX_HEIGHT, START_RADIUS, TreePlaces

MOST = 1000  # hypotheses, unless the answer itself is longer

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
        f'<div class="branches" tabindex="-1">{_drawing(tree)}</div>'
        '<p class="hint">Steps go from left to right. The thicker a line, the closer its hypothesis is to the '
        "likeliest of its step. Point at a piece for its numbers and its path; arrow keys move.</p></section>"
    )


def _drawing(tree: BeamTree) -> str:
    places = TreePlaces(tree)
    (width, height), (x, y) = places.size, places.start
    heads = "".join(
        f'<text class="step" x="{left + 1:g}" y="14">{step}</text>'
        for step, left in enumerate(places.lefts[:-1], start=1)
    )
    return (
        f'<svg width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"><g aria-hidden="true">'
        f'<text class="step" x="0" y="14">step</text>{heads}{"".join(_edges(places))}<path class="trail"/>'
        f'<circle class="start" cx="{x:g}" cy="{y:g}" r="{START_RADIUS}"/></g>'
        f'<g role="tree" aria-label="Hypotheses of the beam">{"".join(_nodes(places))}</g></svg>'
    )


def _edges(places: TreePlaces) -> Iterator[str]:
    tree = places.tree
    for number in tree.painted:
        edge = places.edge(number)
        points = " ".join(f"{x:g} {y:g}" for x, y in (*edge.controls, edge.end))
        path = f"M{edge.begin[0]:g} {edge.begin[1]:g}H{edge.turn[0]:g}C{points}"
        yield (
            f'<path class="edge {_kind(tree, number)}" data-number="{number}" d="{path}" '
            f'stroke-width="{1 + 2 * tree.closeness(number):.2f}"/>'
        )


def _nodes(places: TreePlaces) -> Iterator[str]:
    """Depth first, as they are read aloud."""
    tree = places.tree
    waiting = tree.children[None][::-1]
    first = waiting[-1]
    while waiting:
        number = waiting.pop()
        node = tree.nodes[number]
        parent = "" if node.parent is None else f' data-parent="{node.parent}"'
        box = (places.left(number), places.width(number), places.middle(number))
        yield (
            f'<g class="node {_kind(tree, number)}" role="treeitem" aria-level="{node.step}" '
            f'tabindex="{0 if number == first else -1}" data-number="{number}"{parent}>'
            f"<title>{escape(_told(tree, number))}</title>{_box(label(node.piece), node.fate, *box)}</g>"
        )
        waiting += tree.children.get(number, [])[::-1]


def _told(tree: BeamTree, number: int) -> str:
    node = tree.nodes[number]
    before = 0.0 if node.parent is None else tree.nodes[node.parent].score
    fate = _NAMES["answer"] if number in tree.answer else node.fate
    return (
        f"“{label(node.piece)}”, step {node.step}, {'the answer' if number in tree.answer[-1:] else fate}: "
        f"log-probability {_number(node.score)}, rank {_number(node.rank)}; "
        f"probability of this piece here {100 * math.exp(node.score - before):.1f} %"
    )


def _kind(tree: BeamTree, number: int) -> str:
    """What a hypothesis is called in the style: its fate, and whether it is in the answer."""
    return escape(tree.nodes[number].fate) + (" answer" if number in tree.answer else "")


def _box(name: str, fate: str, left: float, wide: float, middle: float) -> str:
    """A label in its outline; in two, as accepting states have, where a hypothesis finished."""
    outlines = f'<rect class="box" {_rectangle(left, middle, wide, BOX_HEIGHT)} rx="6"/>'
    if fate == "finished":
        outlines += f'<rect class="inner" {_rectangle(left + 3, middle, wide - 6, BOX_HEIGHT - 6)} rx="3.5"/>'
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
