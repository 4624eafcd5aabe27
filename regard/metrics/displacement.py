"""How far predicted points are from where it really went.

A prediction and a right answer are lines of JSON such as `[[1, 2], [3, 4]]`. A prediction of several lines is several
futures, of which the first is the answer.
"""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard import __version__
from regard.core.errors import UserError
from regard.core.points import Points, read_points
from regard.metrics.score import Metric, Tally, check, reference_count

Count = tuple[float, float]  # the sum of the errors, and of how many


class _PointMetric(Metric):
    """A mean over all that is known of the right answers. Of several right answers the nearest counts.

    What is missing in a right answer does not count. Who gives fewer points than there are, or points with values
    missing, stays where they last were; who gives none stands at the origin. Points beyond the end are not looked at.
    """

    answers = "points"
    higher_is_better = False
    every_future = False  # the best of all futures, instead of the first

    @abstractmethod
    def errors(self, predicted: Points, right: Points) -> Count:
        """Of one future, as long as the right answer."""

    def tally(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Tally:
        check(predictions, references)
        counts, futures = [], set()
        for number, (prediction, answers) in enumerate(zip(predictions, references, strict=True), start=1):
            lines = prediction.strip().split("\n") if prediction.strip() else []
            futures.add(len(lines))
            counts.append(self._nearest(number, lines if self.every_future else lines[:1], answers))
        signature = f"nrefs:{reference_count(references)}|nothing:origin|version:regard-{__version__}"
        if self.every_future:
            several = str(futures.pop()) if len(futures) == 1 else "var"
            signature = f"futures:{several}|{signature}"
        return Tally(self.name, signature, self.higher_is_better, np.array(counts, dtype=np.float64), _mean)

    def _nearest(self, number: int, lines: Sequence[str], answers: Sequence[str]) -> Count:
        futures = [_read(line, f"prediction {number}") for line in lines]
        found = []
        for answer in answers:
            right = _read(answer, f"the right answer to prediction {number}")
            if any(future.shape[1] != right.shape[1] for future in futures):
                raise UserError(
                    f"Points of prediction {number} have another number of values than those of its right answer."
                )
            found += [self.errors(_filled(future, right.shape), right) for future in futures or [right[:0]]]
        return min(found, key=lambda count: (count[1] == 0, _mean(count)))


class AverageDisplacement(_PointMetric):
    """The mean distance of a predicted point from the true one. A point counts where all its values are known."""

    name = "ade"

    def errors(self, predicted: Points, right: Points) -> Count:
        distances = _distances(predicted, right)
        return float(distances.sum()), len(distances)


class FinalDisplacement(_PointMetric):
    """The mean distance of the last predicted point from the last true point that is known."""

    name = "fde"

    def errors(self, predicted: Points, right: Points) -> Count:
        distances = _distances(predicted, right)[-1:]
        return float(distances.sum()), len(distances)


class LeastAverageDisplacement(AverageDisplacement):
    """The same, of the best of all futures."""

    name = "min_ade"
    every_future = True


class LeastFinalDisplacement(FinalDisplacement):
    """The same, of the best of all futures."""

    name = "min_fde"
    every_future = True


class MeanSquaredError(_PointMetric):
    """The mean of squared differences over all values."""

    name = "mse"

    def errors(self, predicted: Points, right: Points) -> Count:
        known = np.isfinite(right)
        return float(np.square(predicted - right)[known].sum()), int(known.sum())


class MeanAbsoluteError(_PointMetric):
    """The mean size of differences over all values."""

    name = "mae"

    def errors(self, predicted: Points, right: Points) -> Count:
        known = np.isfinite(right)
        return float(np.abs(predicted - right)[known].sum()), int(known.sum())


def _distances(predicted: Points, right: Points) -> NDArray[np.float64]:
    known = np.isfinite(right).all(axis=1)
    distances: NDArray[np.float64] = np.linalg.norm(predicted[known] - right[known], axis=1)
    return distances


def _filled(points: Points, shape: tuple[int, ...]) -> Points:
    """As long as needed, and every value known: the last one that was, or 0."""
    filled = np.zeros(shape)
    last = np.zeros(shape[1])
    for step in range(len(filled)):
        if step < len(points):
            last = np.where(np.isfinite(points[step]), points[step], last)
        filled[step] = last
    return filled


def _read(text: str, what: str) -> Points:
    try:
        return read_points(text)
    except UserError as error:
        raise UserError(f"{what[0].upper()}{what[1:]} is no series of points. {error}") from error


def _mean(sums: Sequence[float]) -> float:
    errors, known = sums
    return errors / known if known else 0.0
