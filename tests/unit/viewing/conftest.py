"""Small predictions made by hand."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from regard.core.prediction import AttentionRecord, Prediction
from regard.viewing import TextView

HOSTILE = ("</script><script>alert(1)</script>", "<!--", "\u2028", "$x_1$", "\x00", "\ud800", "&lt;", " ")

Make = Callable[..., Prediction]


def _predict(
    source: Sequence[str], target: Sequence[str], weights: object = "identity", *, text: str | None = None
) -> Prediction:
    if isinstance(weights, str):
        weights = np.eye(len(target), len(source))[None, None]
    kinds = {} if weights is None else {"cross": np.asarray(weights, dtype=np.float32)}
    return Prediction(
        source="".join(source),
        text="".join(target) if text is None else text,
        pieces=tuple(target),
        score=-0.25,
        attention=AttentionRecord(tuple(source), tuple(target), kinds),
        view=TextView(),
    )


@pytest.fixture
def predict() -> Make:
    return _predict


@pytest.fixture
def two_by_three() -> Prediction:
    """`x` looks mostly at `c`, `y` mostly at `a`."""
    return _predict(["a", " ", "c"], ["x", "y"], [[[[0.1, 0.2, 0.7], [0.9, 0.06, 0.04]]]])


@pytest.fixture
def many_heads() -> Prediction:
    """Two layers of two heads: in layer 1, head 0, everything looks at `b`; elsewhere at `a`."""
    weights = np.zeros((2, 2, 2, 2))
    weights[..., 0] = 1
    weights[1, 0] = [[0, 1], [0, 1]]
    return _predict(["a", "b"], ["x", "</s>"], weights, text="x")


@pytest.fixture
def hostile() -> Prediction:
    return _predict(HOSTILE, [*HOSTILE, "</s>"], np.full((1, 1, len(HOSTILE) + 1, len(HOSTILE)), 1 / 8))
