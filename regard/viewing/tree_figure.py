"""The beam as a picture: steps from left to right, the answer along the top."""

from typing import TYPE_CHECKING

from regard.core.prediction import Prediction
from regard.viewing.colours import ACCENT, ANCHORS, INK, QUIET
from regard.viewing.heatmap import placard
from regard.viewing.labels import label
from regard.viewing.tree import beam_tree
from regard.viewing.tree_places import BOX_HEIGHT, LETTER_SIZE, START_RADIUS, TreePlaces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 400  # hypotheses, unless the answer itself is longer
_PIXELS, _POINTS = 96, 72  # of an inch
_LONGEST_SIDE = 100  # inches; what would be longer is drawn smaller
_MARGIN = 10  # pixels

_KEPT = ANCHORS[1]


def tree_figure(prediction: Prediction) -> "Figure":
    """A matplotlib figure. What was kept has an outline, what finished has two, what was pruned has none."""
    from regard.viewing import canvas

    tree = beam_tree(prediction, MOST)
    if tree is None:
        return placard("No beam to draw: this prediction was made without a record of it.")
    places = TreePlaces(tree)
    figure, _ = canvas.new_figure()
    width, height = (length + 2 * _MARGIN for length in places.size)
    scale = min(1.0, _LONGEST_SIDE * _PIXELS / max(width, height))
    figure.set_size_inches(scale * width / _PIXELS, scale * height / _PIXELS)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(-_MARGIN, width - _MARGIN), ylim=(height - _MARGIN, -_MARGIN))
    axes.set_axis_off()
    points = scale * _POINTS / _PIXELS  # of a pixel
    _draw_edges(axes, places, points)
    lettering = canvas.Lettering([label(tree.nodes[number].piece) for number in tree.shown])

    def write(x: float, y: float, words: str, size: float, colour: str, **properties: str) -> None:
        text = lettering.text(x, y, words, size=size * points, color=colour, **properties)
        text.set_fontfamily(["DejaVu Sans Mono", *lettering.families])
        axes.add_artist(text)

    for step, left in [("step", 0.0), *((str(step), left) for step, left in enumerate(places.lefts[:-1], 1))]:
        write(left + 1, 14, step, LETTER_SIZE - 1.5, QUIET)
    for number in sorted(tree.shown):
        node, answer = tree.nodes[number], number in tree.answer
        if answer or node.fate != "pruned":
            _draw_box(axes, places, number, points)
        colour = "white" if answer else QUIET if node.fate == "pruned" else INK
        middle = places.left(number) + places.width(number) / 2
        write(
            middle, places.middle(number) + 4, label(node.piece), LETTER_SIZE, colour,
            ha="center", weight="bold" if answer else "normal",
        )  # fmt: skip
    return figure


def _draw_edges(axes: "Axes", places: TreePlaces, points: float) -> None:
    from matplotlib.patches import Circle, PathPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    tree = places.tree
    for number in tree.painted:
        edge, answer = places.edge(number), number in tree.answer
        pruned = tree.nodes[number].fate == "pruned" and not answer
        path = Path([edge.begin, edge.turn, *edge.controls, edge.end], codes)
        axes.add_patch(
            PathPatch(
                path,
                fill=False,
                edgecolor=ACCENT if answer else QUIET if pruned else _KEPT,
                alpha=0.6 if pruned else 1,
                linewidth=points * (1 + 2 * tree.closeness(number)),
                linestyle=(0, (2, 4)) if pruned else "solid",
            )
        )
    axes.add_patch(Circle(places.start, START_RADIUS, color=ACCENT))


def _draw_box(axes: "Axes", places: TreePlaces, number: int, points: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    answer = number in places.tree.answer
    for inset in (0, 3) if places.tree.nodes[number].fate == "finished" else (0,):
        corner = (places.left(number) + inset, places.middle(number) - BOX_HEIGHT / 2 + inset)
        axes.add_patch(
            FancyBboxPatch(
                corner,
                places.width(number) - 2 * inset,
                BOX_HEIGHT - 2 * inset,
                boxstyle=f"round,pad=0,rounding_size={6 - 0.8 * inset}",
                facecolor=ACCENT if answer else "white",
                edgecolor=("white" if inset else ACCENT) if answer else _KEPT,
                linewidth=1.4 * points,
            )
        )
