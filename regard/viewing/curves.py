"""How a training went: loss and validation scores over the steps, one small panel each."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.viewing.colours import INK, LINE, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from regard.viewing.canvas import Lettering

Points = tuple[Sequence[float], Sequence[float]]  # steps, values

_TRAINING, _VALIDATION = "#3f6fc4", "#b8501a"
_WIDTH, _PANEL, _BETWEEN, _LEFT, _RIGHT = 7.2, 1.6, 0.42, 0.72, 1.3  # inches
_NOISY = 120  # from so many points on, a curve is drawn pale with its moving mean over it


def curves(
    training: Points, validation: Mapping[str, Points] | None = None, *, title: str | None = None
) -> "Figure":
    """The training loss `(steps, values)` and each validation score by name, sharing the steps.

    A validation score named "loss" shares the panel of the training loss.
    """
    from regard.viewing import canvas

    scores = dict(validation or {})
    panels = {"loss": [("training", _TRAINING, training)]}
    if "loss" in scores:
        panels["loss"].append(("validation", _VALIDATION, scores.pop("loss")))
    panels |= {name: [("", _VALIDATION, points)] for name, points in scores.items()}

    figure, _ = canvas.new_figure()
    lettering = canvas.Lettering([*panels, title or ""])
    above = 0.35 if title else 0.0
    height = above + (_PANEL + _BETWEEN) * len(panels) + 0.55
    figure.set_size_inches(_WIDTH, height)
    if title:
        heading = lettering.text(_LEFT / _WIDTH, 1 - 0.16 / height, title, size=12, color=INK, va="top")
        heading.set_transform(figure.transFigure)
        figure.add_artist(heading)
    shared: Axes | None = None
    for number, (name, lines) in enumerate(panels.items()):
        low = height - above - (_PANEL + _BETWEEN) * (number + 1)
        place = (_LEFT / _WIDTH, low / height, (_WIDTH - _LEFT - _RIGHT) / _WIDTH, _PANEL / height)
        axes = figure.add_axes(place, sharex=shared)
        shared = shared or axes
        _dress(axes, steps_below=number == len(panels) - 1)
        figure.add_artist(lettering.text(0, 1.06, name, size=10.5, color=INK, transform=axes.transAxes))
        ends = [(role, colour, _draw(axes, points, colour)) for role, colour, points in lines]
        _name_ends(axes, lettering, ends)
    return figure


def _dress(axes: "Axes", *, steps_below: bool) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    axes.set_facecolor("white")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(LINE)
    axes.grid(axis="y", color=LINE, linewidth=0.7)
    axes.grid(visible=False, axis="x")
    axes.set_axisbelow(True)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.tick_params(length=0, labelsize=8.5, labelcolor=QUIET, labelbottom=steps_below)
    if steps_below:
        axes.set_xlabel("step", size=9, color=QUIET)


def _draw(axes: "Axes", points: Points, colour: str) -> tuple[float, float] | None:
    """One curve; gives its last finite point."""
    steps, values = (np.asarray(side, dtype=np.float64) for side in points)
    if len(steps) != len(values):
        raise ValueError(f"{len(steps)} steps do not go with {len(values)} values")
    values = np.where(np.isfinite(values), values, np.nan)  # a diverged step leaves a gap
    noisy = len(values) >= _NOISY
    if noisy:
        axes.plot(steps, values, color=colour, linewidth=0.8, alpha=0.25)
        values = _moving_mean(values, len(values) // 40)
    few = len(values) <= 30
    axes.plot(steps, values, color=colour, linewidth=1.7, marker="o" if few else "", markersize=3.5)
    finite = np.flatnonzero(np.isfinite(values))
    return (float(steps[finite[-1]]), float(values[finite[-1]])) if len(finite) else None


def _moving_mean(values: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """The mean of each value and its neighbours up to `reach` away, gaps left out."""
    known = np.isfinite(values)
    window = np.ones(2 * reach + 1)
    total = np.convolve(np.where(known, values, 0), window, mode="same")
    count = np.convolve(known.astype(np.float64), window, mode="same")
    return np.where(known, total / np.maximum(count, 1), np.nan)


def _name_ends(
    axes: "Axes", lettering: "Lettering", ends: list[tuple[str, str, tuple[float, float] | None]]
) -> None:
    """Role and last value of each curve beside its end, instead of a legend."""
    low, high = axes.get_ylim()
    there = sorted((end[1], role, colour) for role, colour, end in ends if end is not None)
    heights = [(value - low) / (high - low) for value, _, _ in there]
    if len(heights) == 2 and heights[1] - heights[0] < 0.13:
        middle = sum(heights) / 2
        heights = [middle - 0.065, middle + 0.065]
    for place, (value, role, colour) in zip(heights, there, strict=True):
        words = f"{role} {_short(value)}".strip()
        text = lettering.text(1.02, place, words, size=9, color=colour, va="center", transform=axes.transAxes)
        axes.figure.add_artist(text)


def _short(value: float) -> str:
    """A figure that fits beside its curve."""
    return f"{value:.4g}" if value == 0 or abs(value) >= 0.001 else f"{value:.0e}"
