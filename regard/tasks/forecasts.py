"""Forecasts that need no model, to see what a model's are worth."""

from collections.abc import Iterable, Sequence

import numpy as np

from regard.core.points import Points, read_series_source, write_points
from regard.data.pairs import Pair


class LastPoint:
    """Nothing moves any more: the last known values, for so many steps."""

    name = "last_point"

    def __init__(self, steps: int):
        self.steps = steps

    def answers(self, train: Iterable[Pair], sources: Sequence[str]) -> list[str]:
        return [
            write_points(_going_on(read_series_source(source).series, self.steps, 0.0)) for source in sources
        ]


class ConstantVelocity:
    """All goes on as between the last two points (Schöller et al. 2020).

    Between the last two known ones of each value, where some are missing; a value known but once stays.
    """

    name = "constant_velocity"

    def __init__(self, steps: int):
        self.steps = steps

    def answers(self, train: Iterable[Pair], sources: Sequence[str]) -> list[str]:
        return [
            write_points(_going_on(read_series_source(source).series, self.steps, 1.0)) for source in sources
        ]


def _going_on(series: Points, steps: int, share: float) -> Points:
    """Each value from its last known one on, with so much of its last velocity. One that is never known stays so."""
    points = np.full((steps, series.shape[1]), np.nan)
    for column, values in enumerate(series.T):
        known = np.flatnonzero(np.isfinite(values))
        if not len(known):
            continue
        last = known[-1]
        velocity = 0.0
        if len(known) > 1:
            velocity = share * (values[last] - values[known[-2]]) / (last - known[-2])
        points[:, column] = values[last] + velocity * np.arange(
            len(values) - last, len(values) - last + steps
        )
    return points
