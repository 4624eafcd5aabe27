"""Paths as SVG elements inside a page or a notebook, dressed as those are."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.core.points import Points
from regard.viewing.page_charts import nice_ticks
from regard.viewing.path_data import MOST_DOTS, MOST_PANELS, Paths, steps_after, steps_before

SIDE, PANEL = 520, 120  # pixels: of the plane, and of one value over time
LARGEST = 15  # radius of a mark: areas are in proportion to weights
_LEFT, _TOP, _RIGHT, _BELOW = 48, 14, 14, 26

Dress = Callable[[str], str]  # what something is -> attributes that say how it looks
Pixels = NDArray[np.float64]  # steps, across and down
Place = Callable[[Points], Pixels]


def drawn_paths(paths: Paths, dress: Dress, marks: NDArray[np.float64] | None) -> str:
    """An `svg` element: the path in the plane, or a panel for each value over time.

    Marks of observed points carry `data-at`, predicted points `data-step`, both counted from 0.
    """
    panels = [_plane(paths, dress, marks)] if paths.size == 2 else _over_time(paths, dress, marks)
    heights = [height for _, height in panels]
    tops = np.cumsum([0, *heights])
    inside = "".join(
        f'<g transform="translate(0 {top})">{drawing}</g>'
        for (drawing, _), top in zip(panels, tops, strict=False)
    )
    wide, high = _LEFT + SIDE + _RIGHT, int(tops[-1])
    words = f"{len(paths.observed)} observed and {len(paths.predicted)} predicted points"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        f'role="img" aria-label="{words}" {dress("paths")}>{inside}</svg>'
    )


def _plane(paths: Paths, dress: Dress, marks: NDArray[np.float64] | None) -> tuple[str, int]:
    """One scale for both axes, so that no way is bent."""
    known = paths.every[np.isfinite(paths.every).all(axis=1)]
    low, high = (known.min(axis=0), known.max(axis=0)) if len(known) else (np.zeros(2), np.ones(2))
    span = max(float((high - low).max()) * 1.12, 1e-9)
    high_side = max(160.0, SIDE * float(high[1] - low[1] + 0.12 * span) / span)
    middle = (low + high) / 2

    def place(points: Points) -> NDArray[np.float64]:
        away = (points - middle) * SIDE / span
        return np.stack([_LEFT + SIDE / 2 + away[:, 0], _TOP + high_side / 2 - away[:, 1]], axis=1)

    reach = np.array([span, span * high_side / SIDE]) / 2
    axes = _axes(dress, place, middle - reach, middle + reach, high_side)
    last = paths.observed[np.flatnonzero(np.isfinite(paths.observed).all(axis=1))[-1:]]
    drawing = _lines(
        dress,
        samples=[place(np.concatenate([last, sample])) for sample in paths.samples],
        observed=place(paths.observed),
        true=None if paths.true is None else place(np.concatenate([last, paths.true])),
        predicted=place(np.concatenate([last, paths.predicted])),
    )
    return axes + drawing + _dots(dress, paths, place(paths.observed), place(paths.predicted), marks), round(
        _TOP + high_side + _BELOW
    )


def _over_time(paths: Paths, dress: Dress, marks: NDArray[np.float64] | None) -> list[tuple[str, int]]:
    longest = max(
        [len(paths.predicted), len(paths.true) if paths.true is not None else 0, *map(len, paths.samples)]
    )
    first, last = 1 - len(paths.observed), max(longest, 1)
    panels = []
    for value in range(min(paths.size, MOST_PANELS)):
        heights = paths.every[:, value]
        heights = heights[np.isfinite(heights)]
        low, high = (float(heights.min()), float(heights.max())) if len(heights) else (0.0, 1.0)
        margin = 0.12 * (high - low) or 0.5
        low, high = low - margin, high + margin

        def place(points: Points, low: float = low, high: float = high) -> NDArray[np.float64]:
            """Of steps and values."""
            share = (points - [first, low]) / [max(last - first, 1), high - low]
            return np.stack([_LEFT + SIDE * share[:, 0], _TOP + PANEL * (1 - share[:, 1])], axis=1)

        def timed(points: Points, start: int, value: int = value) -> Points:
            return np.stack([np.arange(start, start + len(points)), points[:, value]], axis=1)

        observed, predicted = place(timed(paths.observed, first)), place(timed(paths.predicted, 1))
        axes = _axes(dress, place, np.array([first, low]), np.array([last, high]), PANEL)
        drawing = _lines(
            dress,
            samples=[place(timed(sample, 1)) for sample in paths.samples],
            observed=observed,
            true=None if paths.true is None else place(timed(paths.true, 1)),
            predicted=predicted,
        )
        name = f'<text x="{_LEFT + 6}" y="{_TOP + 12}" {dress("name")}>value {value + 1}</text>'
        dots = _dots(dress, paths, observed, predicted, marks)
        panels.append((axes + drawing + dots + name, _TOP + PANEL + _BELOW))
    return panels


def _axes(
    dress: Dress, place: Place, low: NDArray[np.float64], high: NDArray[np.float64], height: float
) -> str:
    parts = []
    for axis, count in ((0, 6), (1, max(4, round(height / 90)))):
        for tick in nice_ticks(float(low[axis]), float(high[axis]), count=count):
            if not low[axis] <= tick <= high[axis]:
                continue
            point = low.copy()
            point[axis] = tick
            x, y = place(point[None])[0]
            if axis == 0:
                rule = f"M{x:.1f} {_TOP}v{height:.1f}"
                at = f'x="{x:.1f}" y="{_TOP + height + 16:.1f}" text-anchor="middle"'
            else:
                rule, at = f"M{_LEFT} {y:.1f}h{SIDE}", f'x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end"'
            said = f"{tick:g}".replace("-", "−")
            parts.append(f'<path d="{rule}" {dress("rule")}/><text {at} {dress("tick")}>{said}</text>')
    return "".join(parts)


def _lines(dress: Dress, *, samples: Sequence[Pixels], **named: Pixels | None) -> str:
    several = "".join(f'<path d="{_path(sample)}" {dress("sample")}/>' for sample in samples)
    return several + "".join(
        f'<path d="{_path(pixels)}" {dress(name)}/>' for name, pixels in named.items() if pixels is not None
    )


def _path(pixels: Pixels) -> str:
    """Broken where a point is missing."""
    parts, pen = [], "M"
    for x, y in pixels:
        if math.isfinite(x) and math.isfinite(y):
            parts.append(f"{pen}{x:.1f} {y:.1f}")
            pen = "L"
        else:
            pen = "M"
    return "".join(parts)


def _dots(
    dress: Dress, paths: Paths, observed: Pixels, predicted: Pixels, marks: NDArray[np.float64] | None
) -> str:
    parts = []
    small = 0.6 if len(paths.observed) + len(paths.predicted) > MOST_DOTS else 1.0
    areas = np.zeros(len(paths.observed)) if marks is None else paths.areas(marks)
    for at, ((x, y), name) in enumerate(zip(observed, steps_before(len(paths.observed)), strict=True)):
        if math.isfinite(x) and math.isfinite(y):
            place = f'cx="{x:.1f}" cy="{y:.1f}" data-at="{at}"'
            words = f"observed step {name}" + ("" if marks is None else f": {marks[at]:.3f}")
            seen = f'r="{2.8 * small:.1f}" {dress("seen")}><title>{words}</title>'
            mark = f'r="{LARGEST * math.sqrt(areas[at]):.2f}" {dress("mark")}'
            parts.append(f"<circle {place} {mark}/><circle {place} {seen}</circle>")
    for step, ((x, y), name) in enumerate(zip(predicted, steps_after(len(paths.predicted)), strict=True)):
        if math.isfinite(x) and math.isfinite(y):
            place = f'cx="{x:.1f}" cy="{y:.1f}" data-step="{step}"'
            said = f'r="{3.4 * small:.1f}" {dress("said")}><title>step {name}</title>'
            parts.append(f'<circle {place} r="9" {dress("near")}/><circle {place} {said}</circle>')
    return "".join(parts)
