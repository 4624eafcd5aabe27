"""A result as curves: quality over source length, learning over what was spent."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from regard.comparing.costs import Learning, Point
from regard.comparing.standings import Result
from regard.viewing import lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curve = list[tuple[float, float]]  # across, up


def over_length(result: Result, metric: str) -> list[Curve]:
    """Of each model: a point for each part of the test sources, at their middle length."""
    return [
        [
            ((part.least + (part.most or part.least)) / 2, part.scores[place].value)
            for part in result.by_length[metric]
        ]
        for place in range(len(result.standings))
    ]


def learned(record: Learning, value: str, across: Callable[[Point], float]) -> Curve:
    """Of one run: what validations found."""
    return [(across(point), point.values[value]) for point in record.points if value in point.values]


def minutes(point: Point) -> float:
    return point.spent.seconds / 60


def figure(result: Result) -> "Figure | None":
    """The metric that decides, over source length and over the time of training; of several seeds the first."""
    names = [one.name for one in result.standings]
    first = [learned(one.learnings[0], result.metric, minutes) for one in result.standings]
    lengths = over_length(result, result.metric) if result.metric in result.by_length else []
    panels = [
        (f"{result.metric}, over pieces of the source", lengths),
        (f"{result.metric} on validation, over minutes of training", first),
    ]
    drawn = {heading: _named(names, curves) for heading, curves in panels if any(curves)}
    return lines(drawn, across="", title=result.name, lowest=0) if drawn else None


def _named(
    names: Sequence[str], curves: Sequence[Curve]
) -> dict[str, tuple[Sequence[float], Sequence[float]]]:
    return {
        name: ([across for across, _ in curve], [up for _, up in curve])
        for name, curve in zip(names, curves, strict=True)
        if curve
    }
