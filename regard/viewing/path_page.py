"""Paths as one HTML file: point at a predicted step and see what it looked at."""

import numpy as np
from numpy.typing import NDArray

from regard.core.prediction import AttentionRecord, Prediction, Weights
from regard.viewing.page import inert_json
from regard.viewing.path_data import FULL, LOOKS, Paths, columns_of, steps_after, steps_before
from regard.viewing.path_svg import LARGEST, drawn_paths
from regard.viewing.standalone import assets, filled, spoken

MOST_WEIGHTS = 2_000_000  # beyond, the page holds the mean of layers and heads alone


def path_page(prediction: Prediction, paths: Paths, marks: NDArray[np.float64] | None) -> str:
    """The whole page. Nothing of the prediction's texts enters but numbers."""
    content = {
        "looks": {
            kind: {
                "name": LOOKS[kind],
                "columns": columns_of(kind, weights.shape[3]),
                "weights": np.where(
                    np.isfinite(weights), np.round(weights.astype(np.float64), 5), 0
                ).tolist(),
            }
            for kind in paths.looks
            for weights in [_every(prediction.attention, kind)]
        },
        "observed": steps_before(len(paths.observed)),
        "predicted": steps_after(len(paths.predicted)),
        "marked": marks is not None,
        "largest": LARGEST,
        "full": FULL,
    }
    values = {
        "title": f"{len(paths.predicted)} predicted points · Regard",
        "legend": _legend(paths),
        "facts": _facts(prediction, paths),
        "drawing": drawn_paths(paths, lambda what: f'class="{what}"', marks),
        "data": inert_json(content),
        "source": spoken(prediction.source),
        "answer": spoken(prediction.text),
    }
    return filled(
        "paths.html",
        values,
        style=assets("base.css", "controls.css", "paths.css"),
        script=assets("controls.js", "paths.js"),
    )


def _legend(paths: Paths) -> str:
    names = ["observed", "predicted", *(["true"] if paths.true is not None else [])]
    if paths.samples:
        names.append("sample")
    words = {"sample": f"{len(paths.samples)} other future{'s' if len(paths.samples) > 1 else ''}"}
    return "".join(f'<i class="{name}">{words.get(name, name)}</i>' for name in names)


def _facts(prediction: Prediction, paths: Paths) -> str:
    facts = [("log-likelihood", f"{prediction.score:.3f}" if np.isfinite(prediction.score) else "not finite")]
    if paths.distances is not None:
        facts += zip(
            ("mean distance", "last distance"), (f"{one:.3g}" for one in paths.distances), strict=True
        )
    return "".join(f"<span>{name} <b>{value.replace('-', '−')}</b></span>" for name, value in facts)


def _every(record: AttentionRecord, kind: str) -> Weights:
    """All layers and heads, `[layers, heads, target, source]`; of an ensemble, or of too many, their mean."""
    weights = record.weights.get(kind)
    if weights is None or weights.size > MOST_WEIGHTS:
        return record.matrix(kind)[None, None]
    return weights
