"""Small predictions of points, made by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from regard.core.points import write_points, write_series_source
from regard.core.prediction import AttentionRecord, Prediction
from regard.viewing import PathView

OBSERVED = [[0, 0], [1, 0], [2, 1], [3, 1]]
PREDICTED = [[4, 1], [5, 2]]
LOOKS = [
    [0.1, 0.2, 0.0, 0.7],
    [0.9, 0.0, 0.1, 0.0],
]  # the first step mostly at the last point, the second at the first


def walked(
    predicted: Any = PREDICTED,
    observed: Any = OBSERVED,
    *,
    true: Any = None,
    context: Any = None,
    samples: Sequence[Any] = (),
    weights: Mapping[str, Any] | None = None,
) -> Prediction:
    """With a look of one layer and head, unless told."""

    def array(points: Any) -> np.ndarray | None:
        return None if points is None else np.array(points, dtype=float)

    looks = {"cross": [[LOOKS]]} if weights is None else weights
    record = AttentionRecord(
        tuple("s" for _ in observed),
        tuple("t" for _ in predicted),
        {kind: np.array(one, dtype=np.float32) for kind, one in looks.items()},
    )
    source = write_series_source(array(observed), array(context), array(true))
    text = write_points(array(predicted)) if len(predicted) else ""
    answer = Prediction(source, text, (), -1.5, record, view=PathView())
    others = tuple(replace(answer, text=write_points(array(sample))) for sample in samples)
    return replace(answer, alternatives=others)
