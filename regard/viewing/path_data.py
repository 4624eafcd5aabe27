"""What a prediction of points says, read off its texts and its attention record."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.core.kinds import CONTEXT, CROSS
from regard.core.points import Points, read_points, read_series_source
from regard.core.prediction import Prediction

LOOKS = {CROSS: "observed", CONTEXT: "context"}  # kinds that are drawn, and what they look at

MOST_PANELS = 6  # values that are drawn over time, where a point has other than two
MOST_DOTS = 40  # of a line; one of more has small ones or none
OBSERVED, TRUE, LOOKED = "#5c6270", "#2f8a6b", "#3f6fc4"  # beside the accent of what is predicted

FULL = 0.2  # a weight that has the largest mark, unless another is larger: many small ones shall be seen too

Look = NDArray[np.float32]  # predicted steps, what is looked at


@dataclass(frozen=True)
class Paths:
    """What was observed, how it went on and how it was said to, each point a row."""

    observed: Points = field(repr=False)
    predicted: Points = field(repr=False)
    true: Points | None = field(repr=False, default=None)
    samples: tuple[Points, ...] = field(repr=False, default=())  # other futures
    looks: Mapping[str, Look] = field(repr=False, default_factory=dict)

    @staticmethod
    def of(prediction: Prediction, layer: int | None = None, head: int | None = None) -> "Paths":
        """Of one layer and head, counted from 0, or of their mean. A UserError where the source is no series."""
        source = read_series_source(prediction.source)
        size = source.series.shape[1]
        return Paths(
            source.series,
            _points(prediction.text, size),
            source.target,
            tuple(_points(other.text, size) for other in prediction.alternatives),
            {
                kind: prediction.attention.matrix(kind, layer, head)
                for kind in LOOKS
                if prediction.attention.has(kind)
            },
        )

    @property
    def size(self) -> int:
        return int(self.observed.shape[1])

    @property
    def every(self) -> Points:
        """All points that are drawn, one after the other."""
        true = [] if self.true is None else [self.true]
        return np.concatenate([self.observed, self.predicted, *true, *self.samples])

    @property
    def marks(self) -> NDArray[np.float64] | None:
        """How much each observed point was looked at by each step, [steps, observed]; None where nobody knows."""
        look = self.looks.get(CROSS)
        if look is None or not look.size:
            return None
        unread = len(self.observed) - look.shape[1]  # the first points of a series that is too long
        if unread < 0 or len(look) != len(self.predicted):
            return None
        return np.pad(np.nan_to_num(look.astype(np.float64)), ((0, 0), (unread, 0)))

    def marks_of(self, step: int | None) -> NDArray[np.float64] | None:
        """The same of one step, counted from 0, or in the mean."""
        marks = self.marks
        if marks is None:
            return None
        chosen: NDArray[np.float64] = marks.mean(axis=0) if step is None else marks[step]
        return chosen

    @staticmethod
    def areas(marks: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares of the largest mark's area."""
        areas: NDArray[np.float64] = np.maximum(marks, 0) / max(FULL, float(marks.max(initial=0)))
        return areas

    @property
    def distances(self) -> tuple[float, float] | None:
        """The mean distance from the true points and that of the last of them, where they are known."""
        if self.true is None:
            return None
        steps = min(len(self.true), len(self.predicted))
        away = np.linalg.norm(self.true[:steps] - self.predicted[:steps], axis=1)
        away = away[np.isfinite(away)]
        return (float(away.mean()), float(away[-1])) if len(away) else None


def steps_before(count: int) -> list[str]:
    """Observed steps, counted back from the last, which is 0."""
    return [str(at - count + 1).replace("-", "−") for at in range(count)]


def steps_after(count: int) -> list[str]:
    return [str(at + 1) for at in range(count)]


def columns_of(kind: str, count: int) -> list[str]:
    """What the columns of a look are called."""
    return steps_before(count) if kind == CROSS else steps_after(count)


def _points(text: str, size: int) -> Points:
    """None where nothing was answered."""
    points = read_points(text) if text.strip() else np.zeros((0, size))
    if points.shape[1] != size:
        raise UserError(
            f"A point of the answer has {points.shape[1]} values, but one of the source has {size}."
        )
    return points
