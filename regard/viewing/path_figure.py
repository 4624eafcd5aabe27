"""Paths as a picture: where it went, where it was said to go, and what was looked at for that."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.viewing.colours import ACCENT, INK, LINE, QUIET
from regard.viewing.path_data import (
    LOOKED,
    LOOKS,
    MOST_DOTS,
    MOST_PANELS,
    OBSERVED,
    TRUE,
    Look,
    Paths,
    columns_of,
    steps_after,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from regard.viewing.canvas import Lettering

# Inches.
_PLANE, _PANEL, _BETWEEN = 4.4, 1.15, 0.3
_LEFT, _RIGHT, _TOP, _BELOW, _GAP = 0.6, 0.25, 0.55, 0.5, 0.75
_CELL, _SMALLEST_CELL, _LONGEST_MAP, _LINED = 0.26, 0.02, 4.4, 0.1
_HEADING = 0.3
_LABEL, _LETTER = 0.15, 0.07  # room for a label, and for each of its letters
_LARGEST_MARK = 420  # square points


def path_figure(paths: Paths, *, step: int | None = None, caption: str | None = None) -> "Figure":
    """The path, or a panel for each value over time, and a map of each kind of look beside it.

    Circles around observed points show how much a step looked there, counted from 0, or all of them in the mean.
    """
    from regard.viewing import canvas

    figure, _ = canvas.new_figure()
    lettering = canvas.Lettering([caption or ""])
    panels = min(paths.size, MOST_PANELS)
    drawn_height = _flatness(paths) * _PLANE if paths.size == 2 else panels * (_PANEL + _BETWEEN) - _BETWEEN
    maps = {kind: (look, _cell(look)) for kind, look in paths.looks.items() if look.size}
    maps_width = sum(_GAP + cell * look.shape[1] for look, cell in maps.values())
    maps_height = max((_HEADING + cell * len(look) for look, cell in maps.values()), default=0)
    width = _LEFT + _PLANE + _RIGHT + maps_width + (_RIGHT if maps else 0)
    height = _TOP + max(drawn_height, maps_height) + _BELOW

    def place(x: float, y: float, wide: float, high: float) -> tuple[float, float, float, float]:
        """Inches from the upper left corner."""
        return (x / width, 1 - (y + high) / height, wide / width, high / height)

    figure.set_size_inches(width, height)
    marks = paths.marks_of(step)
    if paths.size == 2:
        axes = figure.add_axes(place(_LEFT, _TOP, _PLANE, drawn_height), label="path")
        _dress(axes)
        axes.set_aspect("equal", adjustable="datalim")
        _plane(axes, paths, marks)
    for number in range(panels if paths.size != 2 else 0):
        down = _TOP + number * (_PANEL + _BETWEEN)
        axes = figure.add_axes(place(_LEFT, down, _PLANE, _PANEL), label=f"value {number + 1}")
        _dress(axes)
        _over_time(axes, paths, number, marks)
        if number == panels - 1:
            axes.set_xlabel("step", size=9, color=QUIET)
    across = _LEFT + _PLANE + _RIGHT
    for kind, (look, cell) in maps.items():
        box = place(across + _GAP, _TOP + _HEADING, cell * look.shape[1], cell * len(look))
        _map(figure.add_axes(box, label=kind), kind, look, cell)
        across += _GAP + cell * look.shape[1]
    _legend(figure, lettering, paths, (width, height), said=_told(paths, step, caption))
    return figure


def _flatness(paths: Paths) -> float:
    """How high the plane is for its width."""
    known = paths.every[np.isfinite(paths.every).all(axis=1)]
    wide, high = np.ptp(known, axis=0) if len(known) else (1.0, 1.0)
    return float(np.clip((high + 1e-9) / (wide + 1e-9) + 0.1, 0.4, 1.0))


def _told(paths: Paths, step: int | None, caption: str | None) -> str:
    """What the circles are."""
    which = f"step {step + 1}" if step is not None else "all steps"
    parts = [] if paths.marks is None else [f"circles: where {which} looked"]
    left_out = (
        [] if paths.size == 2 or paths.size <= MOST_PANELS else [f"{MOST_PANELS} of {paths.size} values"]
    )
    return ", ".join([*parts, *([caption] if caption else []), *left_out])


def _plane(axes: "Axes", paths: Paths, marks: NDArray[np.float64] | None) -> None:
    start = _last_known(paths.observed)
    for sample in paths.samples:
        axes.plot(*np.concatenate([start, sample]).T, color=ACCENT, linewidth=0.8, alpha=0.3, zorder=2)
    _line(axes, *paths.observed.T, colour=OBSERVED)
    if paths.true is not None:
        _line(axes, *np.concatenate([start, paths.true]).T, colour=TRUE, dashed=True)
    if len(paths.predicted):
        _line(axes, *np.concatenate([start, paths.predicted]).T, colour=ACCENT)
    if marks is not None:
        x, y = paths.observed.T
        sizes = _LARGEST_MARK * paths.areas(marks)
        axes.scatter(x, y, s=sizes, color=LOOKED, alpha=0.35, linewidth=0, zorder=3, clip_on=False)


def _over_time(axes: "Axes", paths: Paths, value: int, marks: NDArray[np.float64] | None) -> None:
    before = np.arange(1 - len(paths.observed), 1)
    after = np.arange(1, len(paths.predicted) + 1)
    for sample in paths.samples:
        some = np.arange(1, len(sample) + 1)
        axes.plot(some, sample[:, value], color=ACCENT, linewidth=0.8, alpha=0.3, zorder=2)
    _line(axes, before, paths.observed[:, value], colour=OBSERVED)
    if paths.true is not None:
        _line(axes, np.arange(1, len(paths.true) + 1), paths.true[:, value], colour=TRUE, dashed=True)
    _line(axes, after, paths.predicted[:, value], colour=ACCENT)
    if marks is not None:
        sizes = _LARGEST_MARK / 2 * paths.areas(marks)
        axes.scatter(
            before, paths.observed[:, value], s=sizes, color=LOOKED, alpha=0.35, linewidth=0, zorder=3
        )


def _line(axes: "Axes", across: Any, up: Any, *, colour: str, dashed: bool = False) -> None:
    stroke, dot = (0, (4, 2)) if dashed else "-", "o" if len(up) <= MOST_DOTS else ""
    axes.plot(across, up, color=colour, linewidth=1.6, linestyle=stroke, marker=dot, markersize=3.2, zorder=4)


def _last_known(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where what follows begins, as a row; none where no point is wholly known."""
    known = np.flatnonzero(np.isfinite(points).all(axis=1))
    return points[known[-1:]]


def _dress(axes: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_facecolor("white")
    axes.spines[:].set_visible(False)
    axes.grid(color=LINE, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.margins(0.08)
    axes.tick_params(length=0, labelsize=8.5, labelcolor=QUIET)
    axes.yaxis.set_major_locator(MaxNLocator(5))


def _cell(look: Look) -> float:
    return max(_SMALLEST_CELL, min(_CELL, _LONGEST_MAP / int(max(look.shape))))


def _map(axes: "Axes", kind: str, look: Look, cell: float) -> None:
    from regard.viewing import canvas

    axes.pcolormesh(
        np.ma.masked_invalid(look),
        cmap=canvas.scale(),
        vmin=0,
        vmax=1,
        edgecolors=LINE if cell >= _LINED else "none",
        linewidth=cell * 1.3 if cell >= _LINED else 0,
        rasterized=cell < _LINED,
        clip_on=False,
    )
    axes.set(xlim=(0, look.shape[1]), ylim=(len(look), 0))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=7.5, labelcolor=INK, pad=2)
    axes.xaxis.tick_top()
    names = (columns_of(kind, look.shape[1]), steps_after(len(look)))
    rooms = (_LABEL + _LETTER * max(map(len, names[0])), _LABEL)
    for axis, words, room in zip((axes.xaxis, axes.yaxis), names, rooms, strict=True):
        every = math.ceil(room / cell - 0.2)
        places = range((len(words) - 1) % every, len(words), every)  # the last, which is now, has its name
        axis.set_ticks([at + 0.5 for at in places], [words[at] for at in places])
    axes.set_xlabel(f"{LOOKS[kind]} step", size=8.5, color=QUIET)
    axes.set_ylabel("predicted step", size=8.5, color=QUIET)


def _legend(
    figure: "Figure", lettering: "Lettering", paths: Paths, inches: tuple[float, float], *, said: str
) -> None:
    """Coloured words instead of a box."""
    from regard.viewing import canvas

    width, height = inches
    words: Sequence[tuple[str, str]] = [
        ("observed", OBSERVED),
        ("predicted", ACCENT),
        *([("true", TRUE)] if paths.true is not None else []),
    ]
    across = _LEFT
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for word, colour in [*words, (said, QUIET)]:
        if word:
            size = 9.0 if word is said else 10.0
            text = lettering.text(
                across / width, 1 - 0.3 / height, word, size=size, color=colour, va="center"
            )
            text.set_transform(figure.transFigure)
            figure.add_artist(text)
            across += canvas.extent(text, renderer)[0] + 0.18
    if across > width:
        figure.set_size_inches(across, height)
