"""Named lines over what goes across, such as quality over source length: one panel for each thing measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.viewing.colours import INK, LINE, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from regard.viewing.canvas import Lettering

Points = tuple[Sequence[float], Sequence[float]]  # across, up

# Apart from each other in lightness too; from the seventh line on they come again, broken.
COLOURS = ("#3f6fc4", "#b8501a", "#2f8a6b", "#8a4fb0", "#c2962b", "#5c6270")
_STROKES = ("-", (0, (5, 2)), (0, (1.5, 1.5)))

# Inches.
_PLOT, _PANEL, _HEADING, _BELOW, _TITLE = 5.18, 1.6, 0.42, 0.55, 0.35
_LEFT, _RIGHT, _GAP, _BETWEEN_NAMES = 0.72, 1.3, 0.1, 0.21
_NOISY = 120  # from so many points on, a line is drawn pale with its moving mean over it


@dataclass(frozen=True)
class Line:
    name: str  # stands at its end, before its last value
    points: Points
    colour: str
    stroke: str | tuple[float, tuple[float, float]] = "-"


@dataclass(frozen=True)
class Panel:
    name: str  # what goes up
    lines: Sequence[Line]
    across: str

    @property
    def height(self) -> float:
        return max(_PANEL, _BETWEEN_NAMES * len(self.lines))


def lines(
    panels: Mapping[str, Mapping[str, Points]],
    *,
    across: str = "source length, in pieces",
    title: str | None = None,
    lowest: float | None = None,
) -> "Figure":
    """A panel for each thing measured, with its lines `(across, up)` by name. A name keeps its colour.

    `lowest` is where every panel begins: 0 shows falls in their true size.
    """
    names = list(dict.fromkeys(name for named in panels.values() for name in named))
    for name, points in (line for named in panels.values() for line in named.items()):
        if len(points[0]) != len(points[1]):
            raise ValueError(f"{name}: {len(points[0])} places do not go with {len(points[1])} values")

    def line(name: str, points: Points) -> Line:
        again, place = divmod(names.index(name), len(COLOURS))
        return Line(name, points, COLOURS[place], _STROKES[again % len(_STROKES)])

    drawn = [
        Panel(heading, [line(name, points) for name, points in named.items()], across)
        for heading, named in panels.items()
    ]
    return stack(drawn, title=title, lowest=lowest)


def stack(
    panels: Sequence[Panel], *, title: str | None = None, lowest: float | None = None, shared: bool = False
) -> "Figure":
    """The panels below each other; `shared` is one axis for all of them, named under the last."""
    from regard.viewing import canvas

    figure, renderer = canvas.new_figure()
    words = [title or "", *(panel.name + panel.across for panel in panels)]
    lettering = canvas.Lettering([*words, *(line.name for panel in panels for line in panel.lines)])
    first: Axes | None = None
    placed: list[tuple[Axes, float, float]] = []  # axes, their lower edge and height in inches from the top
    names: list[Text] = []
    down = _TITLE if title else 0.0
    for number, panel in enumerate(panels):
        axes = figure.add_axes((0, 0, 1, 1), label=str(number), sharex=first if shared else None)
        first = first or axes
        named_below = not shared or number == len(panels) - 1
        _dress(axes, lettering, panel.across if named_below else None)
        above = 1 + _GAP / panel.height
        figure.add_artist(
            lettering.text(0, above, panel.name, size=10.5, color=INK, transform=axes.transAxes)
        )
        ends = [_draw(axes, line) for line in panel.lines]
        axes.set_ylim(bottom=lowest)
        names += _name_ends(axes, lettering, panel, ends)
        down += _HEADING + panel.height
        placed.append((axes, down, panel.height))
        down += _BELOW if named_below else 0

    longest = max((canvas.extent(name, renderer)[0] for name in names), default=0)
    width = _LEFT + _PLOT + max(_RIGHT, longest + 3 * _GAP)
    figure.set_size_inches(width, down)
    for axes, edge, height in placed:
        axes.set_position((_LEFT / width, 1 - edge / down, _PLOT / width, height / down))
    if title:
        heading = lettering.text(_LEFT / width, 1 - 0.16 / down, title, size=12, color=INK, va="top")
        heading.set_transform(figure.transFigure)
        figure.add_artist(heading)
    return figure


def _dress(axes: "Axes", lettering: "Lettering", across: str | None) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    axes.set_facecolor("white")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(LINE)
    axes.grid(axis="y", color=LINE, linewidth=0.7)
    axes.grid(visible=False, axis="x")
    axes.set_axisbelow(True)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.tick_params(length=0, labelsize=8.5, labelcolor=QUIET, labelbottom=across is not None)
    if across is not None:
        axes.set_xlabel(across, size=9, color=QUIET, family=lettering.families, parse_math=False)


def _draw(axes: "Axes", line: Line) -> tuple[float, float] | None:
    """One line; gives its last finite point."""
    across, values = (np.asarray(side, dtype=np.float64) for side in line.points)
    values = np.where(np.isfinite(values), values, np.nan)  # what is not a number leaves a gap
    noisy = len(values) >= _NOISY
    if noisy:
        axes.plot(across, values, color=line.colour, linewidth=0.8, alpha=0.25)
        values = _moving_mean(values, len(values) // 40)
    marker = "o" if len(values) <= 30 else ""
    axes.plot(
        across,
        values,
        color=line.colour,
        linewidth=1.7,
        linestyle=line.stroke,
        marker=marker,
        markersize=3.5,
        clip_on=False,  # a point on the lowest edge is drawn whole
    )
    finite = np.flatnonzero(np.isfinite(values))
    return (float(across[finite[-1]]), float(values[finite[-1]])) if len(finite) else None


def _moving_mean(values: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """The mean of each value and its neighbours up to `reach` away, gaps left out."""
    known = np.isfinite(values)
    window = np.ones(2 * reach + 1)
    total = np.convolve(np.where(known, values, 0), window, mode="same")
    count = np.convolve(known.astype(np.float64), window, mode="same")
    return np.where(known, total / np.maximum(count, 1), np.nan)


def _name_ends(
    axes: "Axes", lettering: "Lettering", panel: Panel, ends: Sequence[tuple[float, float] | None]
) -> list["Text"]:
    """Name and last value of each line beside its end, instead of a legend."""
    low, high = axes.get_ylim()
    there = sorted(
        ((end[1], line) for end, line in zip(ends, panel.lines, strict=True) if end is not None),
        key=lambda one: one[0],
    )
    heights = [(value - low) / (high - low) for value, _ in there]
    texts = []
    for height, (value, line) in zip(spread(heights, _BETWEEN_NAMES / panel.height), there, strict=True):
        words = f"{line.name} {_short(value)}".strip()
        text = lettering.text(
            1.02, height, words, size=9, color=line.colour, va="center", transform=axes.transAxes
        )
        axes.figure.add_artist(text)
        texts.append(text)
    return texts


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Rising places between 0 and 1, moved no more than they must be to stand `gap` apart."""
    groups: list[tuple[float, int]] = []  # the middle and how many stand around it
    for place in places:
        middle, members = place, 1
        while groups and middle - groups[-1][0] < gap * (members + groups[-1][1]) / 2:
            before, earlier = groups.pop()
            middle = (before * earlier + middle * members) / (earlier + members)
            members += earlier
        groups.append((middle, members))
    apart = [middle + gap * (n - (members - 1) / 2) for middle, members in groups for n in range(members)]
    kept = [min(place, 1 - gap * above) for above, place in enumerate(reversed(apart))][::-1]
    return [max(place, gap * below) for below, place in enumerate(kept)]


def _short(value: float) -> str:
    """A figure that fits beside its line."""
    return f"{value:.4g}" if value == 0 or abs(value) >= 0.001 else f"{value:.0e}"
