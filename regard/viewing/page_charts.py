"""Curves as small drawings inside a page: how a training went, or how several models compare."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.viewing.standalone import spoken

_WIDE, _HIGH = 320, 150  # of the plot, in pixels
_LEFT, _TOP, _RIGHT, _BELOW = 40, 8, 22, 24
_NO_CURVES = {"kind", "step"}


@dataclass(frozen=True)
class Curve:
    name: str
    points: Sequence[tuple[float, float]]
    style: str = ""  # class of its colour in the page's style; left out: its name
    told: bool = True  # named above the drawing, with its last value

    @property
    def dress(self) -> str:
        return self.style or self.name


def learning_charts(record: Sequence[Mapping[str, Any]]) -> str:
    """From the lines of `metrics.jsonl`; nothing where there are none."""
    validations = [line for line in record if line["kind"] == "validation"]
    names = dict.fromkeys(name for line in validations for name in line if name not in _NO_CURVES)
    training = Curve("training", _points([line for line in record if line["kind"] == "train"], "loss"))
    panels = {"loss": [training]} | {
        name: [Curve("validation", _points(validations, name))] for name in names
    }
    if "loss" in names:
        panels["loss"] = [training, *panels["loss"]]
    drawn = "".join(chart(name, curves, over="the steps") for name, curves in panels.items())
    return f'<div class="charts">{drawn}</div>' if drawn else ""


def _points(lines: Sequence[Mapping[str, Any]], name: str) -> list[tuple[float, float]]:
    """Only numbers: a loss that overflowed is left out."""
    return [
        (float(line["step"]), float(line[name]))
        for line in lines
        if isinstance(line.get(name), int | float) and math.isfinite(line[name])
    ]


def chart(
    name: str, curves: Sequence[Curve], *, over: str, lowest: float | None = None, axis: str = ""
) -> str:
    """One drawing; nothing where there are no points.

    `over` says what goes across to those who cannot see it, and `axis` below the drawing.
    """
    curves = [curve for curve in curves if curve.points]
    if not curves:
        return ""
    heights = [y for curve in curves for _, y in curve.points]
    span = _range(heights) if lowest is None else (min(lowest, *heights), max(lowest, *heights))
    ticks = nice_ticks(*span)
    last = max(x for curve in curves for x, _ in curve.points)
    steps = nice_ticks(0, last, count=4)
    left = max(_LEFT, 12 + 7 * max(len(f"{tick:g}") for tick in ticks))  # room for the longest number

    def across(x: float) -> float:
        return left + _WIDE * x / last if last else left

    def up(y: float) -> float:
        return _TOP + _HIGH * (ticks[-1] - y) / (ticks[-1] - ticks[0])

    lines = "".join(
        f'<path class="rule" d="M{left} {up(tick):.1f}h{_WIDE}"/>'
        f'<text x="{left - 8}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in ticks
    )
    marks = "".join(
        f'<text x="{across(step):.1f}" y="{_TOP + _HIGH + 18}" text-anchor="middle">{_short(step)}</text>'
        for step in steps
        if step <= last
    )
    paths = "".join(_curve(curve, across, up) for curve in curves)
    ends = ", ".join(f"{curve.name} {curve.points[-1][1]:.4g}" for curve in curves)
    width, height = left + _WIDE + _RIGHT, _TOP + _HIGH + _BELOW
    below = f'<p class="across">{spoken(axis)}</p>' if axis else ""
    return (
        f'<figure class="chart"><figcaption><b>{spoken(name)}</b> <span>{_legend(curves)}</span></figcaption>'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{spoken(f"{name} over {over}: {ends}")}">'
        f"{lines}{marks}{paths}</svg>{below}</figure>"
    )


def _legend(curves: Sequence[Curve]) -> str:
    return " ".join(
        f'<i class="{curve.dress}">{spoken(curve.name)} {curve.points[-1][1]:.4g}</i>'
        for curve in curves
        if curve.told
    )


def _short(number: float) -> str:
    """So that it fits under an axis: 1,500 but 20k and 1.5M."""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if number >= 10 * unit or (unit == 1e6 and number >= unit):
            return f"{number / unit:g}{letter}"
    return f"{number:,.4g}" if number < 10 else f"{number:,.0f}"


def _curve(curve: Curve, across: Callable[[float], float], up: Callable[[float], float]) -> str:
    places = [(f"{across(x):.1f}", f"{up(y):.1f}") for x, y in curve.points]
    dots = ""
    if len(places) <= 30:
        dots = "".join(
            f'<circle class="{curve.dress}" cx="{x}" cy="{y}" r="2.6">{_hint(curve, value)}</circle>'
            for (x, y), (_, value) in zip(places, curve.points, strict=True)
        )
    path = "L".join(f"{x} {y}" for x, y in places)
    return f'<path class="curve {curve.dress}" d="M{path}"/>{dots}'


def _hint(curve: Curve, value: float) -> str:
    return f"<title>{spoken(f'{curve.name}: {value:.4g}')}</title>"


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if _differ(low, high) else (low - 0.5, high + 0.5)


def _differ(low: float, high: float) -> bool:
    """By more than rounding, so that ticks between them differ too."""
    return high - low > 1e-6 * max(1.0, abs(low), abs(high))


def nice_ticks(low: float, high: float, count: int = 4) -> list[float]:
    """About so many round numbers that begin at or below `low` and end at or above `high`."""
    if not _differ(low, high):
        high = low + 1
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * unit for unit in (1, 2, 2.5, 5, 10) if power * unit >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]
