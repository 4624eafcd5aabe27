"""A caption as a strip of pictures: for each word the picture, lit where the model looked."""

from typing import TYPE_CHECKING

from regard.viewing.colours import INK, LINE, QUIET
from regard.viewing.picture_looks import Looks, Picture, ground, lit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches.
_PANEL, _GAP, _NAME, _MARGIN, _LINE = 1.42, 0.12, 0.24, 0.18, 0.26
_NAME_SIZE, _SMALLEST_NAME = 10.0, 5.0
_MOST_COLUMNS = 6


def strip(
    looks: Looks, picture: Picture, grid: tuple[int, int], *, title: str, caption: str | None
) -> "Figure":
    """First the picture itself, then a panel for each word, row by row."""
    from regard.viewing import canvas

    below = [text for text in (caption, picture if isinstance(picture, str) else None) if text]
    plain = ground(picture)
    panels = [plain, *(lit(plain, look) for look in looks.maps(grid))]
    names = ["", *looks.names]
    columns = min(_MOST_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure, renderer = canvas.new_figure()
    lettering = canvas.Lettering([title, *below, *names])
    heading = lettering.text(0, 0, title, size=12, color=INK, va="top")
    figure.add_artist(heading)
    high = _PANEL * plain.shape[0] / plain.shape[1]
    width = 2 * _MARGIN + columns * (_PANEL + _GAP) - _GAP
    width = max(width, 2 * _MARGIN + canvas.extent(heading, renderer)[0])
    height = 2 * _MARGIN + 1.4 * _LINE + rows * (_NAME + high + _GAP) - _GAP + _LINE * len(below)
    figure.set_size_inches(width, height)
    heading.set(x=_MARGIN / width, y=1 - _MARGIN / height, transform=figure.transFigure)
    for number, (panel, name) in enumerate(zip(panels, names, strict=True)):
        row, column = divmod(number, columns)
        left = _MARGIN + column * (_PANEL + _GAP)
        top = _MARGIN + 1.4 * _LINE + row * (_NAME + high + _GAP)
        axes = figure.add_axes(
            (left / width, 1 - (top + _NAME + high) / height, _PANEL / width, high / height)
        )
        axes.imshow(panel, interpolation="antialiased")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(color=LINE, linewidth=0.6)
        word = lettering.text(
            (left + _PANEL / 2) / width,
            1 - (top + _NAME * 0.8) / height,
            name,
            size=_NAME_SIZE,
            color=INK,
            ha="center",
            va="baseline",
            transform=figure.transFigure,
        )
        figure.add_artist(word)
        room = (_PANEL + _GAP / 2) / max(canvas.extent(word, renderer)[0], 0.01)
        word.set_fontsize(max(_SMALLEST_NAME, _NAME_SIZE * min(1, room)))
    for number, text in enumerate(reversed(below)):
        x, y = _MARGIN / width, (_MARGIN + number * _LINE) / height
        told = lettering.text(x, y, text, size=9, color=QUIET, va="bottom", transform=figure.transFigure)
        figure.add_artist(told)
    return figure
