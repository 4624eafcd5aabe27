"""A prediction and its attention as a JSON document that any reader understands."""

import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.core.prediction import BeamNode, Prediction, Weights
from regard.core.surrogates import without_surrogates
from regard.core.words import Part, Words

FORMAT = "regard.attention/1"

_UNITS = 10**6  # weights are written with six decimals


def as_document(prediction: Prediction) -> dict[str, Any]:
    """Plain lists, numbers and strings. Every row of weights still sums to one after rounding.

    What JSON cannot say is said differently: a number that is not finite becomes null, half a
    surrogate pair becomes U+FFFD.
    """
    attention = {
        kind: {"shape": list(weights.shape), "weights": distributions(weights)}
        for kind, weights in prediction.attention.weights.items()
    }
    return {**described(prediction), "attention": attention}


def described(prediction: Prediction) -> dict[str, Any]:
    """All but the weights."""
    record = prediction.attention
    words = {"source_words": record.source_words, "target_words": record.target_words}
    document: dict[str, Any] = {
        "format": FORMAT,
        "source": without_surrogates(prediction.source),
        "source_pieces": [without_surrogates(piece) for piece in record.source_pieces],
        "text": without_surrogates(prediction.text),
        "target_pieces": [without_surrogates(piece) for piece in record.target_pieces],
        "score": _number(prediction.score),
        "finished": prediction.finished,
        **{side: _words(known) for side, known in words.items() if known is not None},
    }
    if prediction.beam is not None:
        document["beam"] = list(map(_node, prediction.beam))
    return document


def distributions(weights: Weights) -> Any:
    """Lists in lists, with six decimals."""
    return _lists(_rounded(weights))


def as_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _words(words: Words) -> dict[str, Any]:
    """The words, and for each piece the numbers of those it is part of: none for blanks, null for a mark."""
    return {
        "texts": [without_surrogates(text) for text in words.texts],
        "of": [_part(part) for part in words.of],
    }


def _part(part: Part) -> list[int] | None:
    return None if part is None else list(part)


def _node(node: BeamNode) -> dict[str, Any]:
    numbers = {"score": _number(node.score), "rank": _number(node.rank)}
    return {**asdict(node), "piece": without_surrogates(node.piece), **numbers}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _rounded(weights: Weights) -> NDArray[np.float64]:
    """Six decimals by largest remainder: what rounding down leaves over goes where it was missed most.

    Plain rounding would let the errors of a long row add up. A row that is no distribution is left
    as it is.
    """
    if weights.shape[-1] == 0:
        return weights.astype(np.float64)
    exact = weights.astype(np.float64)  # ... T S
    totals = exact.sum(axis=-1, keepdims=True)  # ... T 1
    distribution = np.abs(totals - 1) < 0.01  # half precision is this far off
    units = np.divide(exact, totals, out=exact.copy(), where=distribution) * _UNITS
    floors = np.floor(units)
    left_over = np.rint(_UNITS - floors.sum(axis=-1, keepdims=True))  # ... T 1
    order = np.argsort(-(units - floors), axis=-1, kind="stable")
    rank = np.argsort(order, axis=-1, kind="stable")
    rounded: NDArray[np.float64] = (
        np.where(distribution, floors + (rank < left_over), np.rint(units)) / _UNITS
    )
    return rounded


def _lists(weights: NDArray[np.float64]) -> Any:
    if np.isfinite(weights).all():
        return weights.tolist()
    spoken = weights.astype(object)
    spoken[~np.isfinite(weights)] = None
    return spoken.tolist()
