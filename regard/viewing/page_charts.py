"""How a training went, as small drawings inside a page: one panel for the loss and one for each score."""

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
    name: str  # training or validation: its colour
    points: Sequence[tuple[float, float]]


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
    drawn = "".join(
        _panel(name, [curve for curve in curves if curve.points]) for name, curves in panels.items()
    )
    return f'<div class="charts">{drawn}</div>' if drawn else ""


def _points(lines: Sequence[Mapping[str, Any]], name: str) -> list[tuple[float, float]]:
    """Only numbers: a loss that overflowed is left out."""
    return [
        (float(line["step"]), float(line[name]))
        for line in lines
        if isinstance(line.get(name), int | float) and math.isfinite(line[name])
    ]


def _panel(name: str, curves: Sequence[Curve]) -> str:
    if not curves:
        return ""
    ticks = nice_ticks(*_range([y for curve in curves for _, y in curve.points]))
    steps = nice_ticks(0, max(x for curve in curves for x, _ in curve.points), count=4)
    last = max(x for curve in curves for x, _ in curve.points)

    def across(x: float) -> float:
        return _LEFT + _WIDE * x / last if last else _LEFT

    def up(y: float) -> float:
        return _TOP + _HIGH * (ticks[-1] - y) / (ticks[-1] - ticks[0])

    lines = "".join(
        f'<path class="rule" d="M{_LEFT} {up(tick):.1f}h{_WIDE}"/>'
        f'<text x="{_LEFT - 8}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in ticks
    )
    marks = "".join(
        f'<text x="{across(step):.1f}" y="{_TOP + _HIGH + 18}" text-anchor="middle">{step:,.0f}</text>'
        for step in steps
        if step <= last
    )
    paths = "".join(_curve(curve, across, up) for curve in curves)
    ends = ", ".join(f"{curve.name} {curve.points[-1][1]:.4g}" for curve in curves)
    width, height = _LEFT + _WIDE + _RIGHT, _TOP + _HIGH + _BELOW
    return (
        f'<figure class="chart"><figcaption><b>{spoken(name)}</b> <span>{_legend(curves)}</span></figcaption>'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{spoken(f"{name} over the steps: {ends}")}">'
        f"{lines}{marks}{paths}</svg></figure>"
    )


def _legend(curves: Sequence[Curve]) -> str:
    return " ".join(f'<i class="{curve.name}">{curve.name} {curve.points[-1][1]:.4g}</i>' for curve in curves)


def _curve(curve: Curve, across: Callable[[float], float], up: Callable[[float], float]) -> str:
    places = [(f"{across(x):.1f}", f"{up(y):.1f}") for x, y in curve.points]
    dots = ""
    if len(places) <= 30:
        dots = "".join(f'<circle class="{curve.name}" cx="{x}" cy="{y}" r="2.6"/>' for x, y in places)
    path = "L".join(f"{x} {y}" for x, y in places)
    return f'<path class="curve {curve.name}" d="M{path}"/>{dots}'


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def nice_ticks(low: float, high: float, count: int = 4) -> list[float]:
    """About so many round numbers that begin at or below `low` and end at or above `high`."""
    if high <= low:
        high = low + 1
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * unit for unit in (1, 2, 2.5, 5, 10) if power * unit >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]
