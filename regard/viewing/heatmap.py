"""Attention as a picture: source pieces across, target pieces down, the darker the more it looked there."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.viewing.colours import INK, LINE, QUIET
from regard.viewing.labels import labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Inches.
_CELL, _SMALLEST_CELL, _SMALLEST_LABEL, _LONGEST_SIDE = 0.34, 0.2, 0.11, 40.0
_MARGIN, _GAP, _AXIS_NAME, _TITLE = 0.18, 0.07, 0.26, 0.36
_BAR, _BAR_GAP, _BAR_LABELS, _BAR_HEIGHT = 0.11, 0.24, 0.34, 1.7

_MOST_VECTOR_CELLS = 40_000  # beyond, the cells of an SVG become one image


def heatmap(
    weights: ArrayLike,
    source_pieces: Sequence[str],
    target_pieces: Sequence[str],
    *,
    hide_special: bool = False,
    largest: float = 1.0,
    title: str | None = None,
    caption: str | None = None,
    sides: tuple[str, str] = ("source", "target"),
) -> "Figure":
    """A matplotlib figure of one matrix `[target, source]`, sized to its pieces.

    `hide_special` leaves out the rows and columns of special pieces; the others keep their weights.
    `largest` is the weight drawn darkest: one, so that pictures can be compared, unless told.
    `sides` are the names of the two axes.
    """
    from regard.viewing import canvas

    weights = np.asarray(weights, dtype=np.float64)  # T S
    if weights.shape != (len(target_pieces), len(source_pieces)):
        raise ValueError(
            f"weights of shape {weights.shape} do not go with {len(target_pieces)} target pieces "
            f"and {len(source_pieces)} source pieces"
        )
    shown = labelled(weights, source_pieces, target_pieces, hide_special=hide_special)
    if shown.emptiness:
        return placard(shown.emptiness)
    across, down = shown.across, shown.down

    figure, renderer = canvas.new_figure()
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    cell = _cell_size(max(len(across), len(down)))
    _draw_cells(axes, shown.weights, cell, largest)

    # All texts first: the picture is as large as they need.
    lettering = canvas.Lettering([*across, *down, title or "", caption or ""])
    every = math.ceil(_SMALLEST_LABEL / cell)  # when cells are tiny, only every so many pieces are named
    size = min(10.0, cell * every * 72 * 0.6)
    upper = _add(figure, axes, (0, _GAP), [
        lettering.text(at + 0.5, 0, across[at], size=size, color=INK, ha="center", va="bottom")
        for at in range(0, len(across), every)
    ])  # fmt: skip
    beside = _add(figure, axes, (-_GAP, 0), [
        lettering.text(0, at + 0.5, down[at], size=size, color=INK, ha="right", va="center_baseline")
        for at in range(0, len(down), every)
    ])  # fmt: skip
    _turn(upper, [canvas.extent(text, renderer)[0] for text in upper], cell * every)
    heading, caption_text = (
        _add(figure, None, (0, 0), [lettering.text(0, 0, words, size=points, color=colour)])[0]
        if words
        else None
        for words, points, colour in ((title, 12, INK), (caption, 9, QUIET))
    )

    # Then the measures, in inches from the upper left corner.
    upper_sizes = [canvas.extent(text, renderer) for text in upper]
    map_width, map_height = cell * len(across), cell * len(down)
    bar_height = min(_BAR_HEIGHT, max(map_height, 2 * _CELL))
    title_height = _TITLE if heading else 0
    left = _MARGIN + _AXIS_NAME + max(canvas.extent(text, renderer)[0] for text in beside) + _GAP
    top = _MARGIN + title_height + _AXIS_NAME + max(height for _, height in upper_sizes) + _GAP
    overhang = max(  # a slanted label begins in the middle of its cell
        wide - (len(across) - every * number - 0.5) * cell if upper[number].get_rotation() == 45 else 0
        for number, (wide, _) in enumerate(upper_sizes)
    )
    right = max(_BAR_GAP + _BAR + _BAR_LABELS, overhang) + _MARGIN
    width = left + map_width + right
    for written, start in ((heading, _MARGIN), (caption_text, left)):
        if written:
            width = max(width, start + canvas.extent(written, renderer)[0] + _MARGIN)
    height = top + max(map_height, bar_height) + _MARGIN + (_AXIS_NAME if caption_text else 0)
    figure.set_size_inches(width, height)

    def place(x: float, y: float) -> dict[str, Any]:
        return {"x": x / width, "y": 1 - y / height, "transform": figure.transFigure}

    def box(x: float, y: float, wide: float, high: float) -> tuple[float, float, float, float]:
        return (x / width, 1 - (y + high) / height, wide / width, high / height)

    axes.set_position(box(left, top, map_width, map_height))
    _draw_bar(figure, axes, box(left + map_width + _BAR_GAP, top, _BAR, bar_height), largest)
    across_name, down_name = _add(figure, None, (0, 0), [
        lettering.text(0, 0, words, size=9, color=QUIET) for words in sides
    ])  # fmt: skip
    across_name.set(**place(left + map_width / 2, _MARGIN + title_height), ha="center", va="top")
    down_name.set(**place(_MARGIN, top + map_height / 2), ha="left", va="center", rotation=90)
    if heading:
        heading.set(**place(_MARGIN, _MARGIN), va="top")
    if caption_text:
        caption_text.set(**place(left, height - _MARGIN), va="bottom")
    return figure


def placard(message: str, details: Sequence[str] = ()) -> "Figure":
    """A figure that says why there is no picture."""
    from regard.viewing import canvas

    figure, renderer = canvas.new_figure()
    lines = [message, *details]
    lettering = canvas.Lettering(lines)
    texts = [
        lettering.text(
            0, 0, line, size=9.5 if number else 12, color=QUIET if number else INK, va="top", ha="left"
        )
        for number, line in enumerate(lines)
    ]
    _add(figure, None, (0, 0), texts)
    width = max(canvas.extent(text, renderer)[0] for text in texts) + 4 * _MARGIN
    height = 0.3 * len(lines) + 4 * _MARGIN
    figure.set_size_inches(width, height)
    for number, text in enumerate(texts):
        y = height - 2 * _MARGIN - 0.3 * number
        text.set(x=2 * _MARGIN / width, y=y / height, transform=figure.transFigure)
    return figure


def _cell_size(pieces: int) -> float:
    comfortable = max(_SMALLEST_CELL, min(_CELL, 9 / pieces))
    return min(comfortable, _LONGEST_SIDE / pieces)


def _add(
    figure: "Figure", axes: "Axes | None", shift: tuple[float, float], texts: list["Text"]
) -> list["Text"]:
    """Put texts on the figure; with axes, at their coordinates and so many inches aside."""
    from matplotlib.transforms import ScaledTranslation

    for text in texts:
        if axes is not None:
            text.set_transform(axes.transData + ScaledTranslation(*shift, figure.dpi_scale_trans))
        figure.add_artist(text)
    return texts


def _turn(texts: list["Text"], widths: list[float], room: float) -> None:
    """Slant the labels that are wider than their cell: all of them, unless only a few are (an end mark)."""
    long = [width > room * 0.96 for width in widths]
    if sum(long) > len(texts) / 4:
        long = [True] * len(texts)
    for text, turned in zip(texts, long, strict=True):
        if turned and room >= 0.24:
            text.set(rotation=45, rotation_mode="anchor", ha="left", va="baseline")
        elif turned:
            text.set(rotation=90, rotation_mode="anchor", ha="left", va="center")


def _draw_cells(axes: "Axes", weights: NDArray[np.floating], cell: float, largest: float) -> None:
    from regard.viewing import canvas

    many = weights.size > _MOST_VECTOR_CELLS
    axes.pcolormesh(
        np.ma.masked_invalid(weights),
        cmap=canvas.scale(),
        vmin=0,
        vmax=largest,
        edgecolors="none" if many else LINE,
        linewidth=0 if many else cell * 1.3,
        rasterized=many,
        clip_on=False,  # the outer lines are as thick as the inner ones
    )
    axes.set(xlim=(0, weights.shape[1]), ylim=(weights.shape[0], 0))


def _draw_bar(
    figure: "Figure", axes: "Axes", place: tuple[float, float, float, float], largest: float
) -> None:
    ticks = [0, largest / 2, largest]
    bar = figure.colorbar(axes.collections[0], cax=figure.add_axes(place), ticks=ticks)
    bar.ax.set_yticklabels([f"{tick:g}" for tick in ticks], size=8, color=QUIET)
    bar.ax.tick_params(length=0, pad=4)
    bar.outline.set(edgecolor=LINE, linewidth=0.6)
