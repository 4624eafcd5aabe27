"""A prediction as an object for JSON: what `regard predict --output json` writes and what the server answers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from regard.alignments import Aligner, Argmax, align, written
from regard.core.prediction import Prediction
from regard.viewing import as_document
from regard.viewing.labels import labels


def as_object(prediction: Prediction, parts: Iterable[str] = ()) -> dict[str, Any]:
    """The text, whether it came to its end, and what else is asked for, of PARTS."""
    known: dict[str, Any] = {"text": prediction.text, "finished": prediction.finished}
    for part in parts:
        known |= PARTS[part](prediction)
    return known


@dataclass(frozen=True)
class Linking:
    """Which words an answer was read off, `0-0 1-2`: how its words are linked with those of the source."""

    by: Aligner = field(default_factory=Argmax)
    layer: int | None = None  # None: the last but one, where there are several
    head: int | None = None  # None: their mean

    def __call__(self, prediction: Prediction) -> str:
        return written(align(prediction.attention, self.by, layer=self.layer, head=self.head))


def _scores(prediction: Prediction) -> dict[str, Any]:
    return {
        "score": prediction.score,
        "rank": prediction.rank,
        "piece_scores": list(prediction.piece_scores),
    }


def _alternatives(prediction: Prediction) -> list[list[dict[str, Any]]]:
    return [
        [{"piece": piece, "probability": probability} for piece, probability in step]
        for step in prediction.likeliest
    ]


def _attention(prediction: Prediction) -> dict[str, Any]:
    """As `regard explain -o map.json` writes it, without the tree of a beam, and with labels that can be seen."""
    document, record = as_document(prediction), prediction.attention
    document.pop("beam", None)
    shown = {"source": labels(record.source_pieces), "target": labels(record.target_pieces)}
    return {**document, "labels": {side: list(names) for side, names in shown.items()}}


PARTS: dict[str, Callable[[Prediction], dict[str, Any]]] = {
    "pieces": lambda one: {"pieces": list(one.pieces)},
    "scores": _scores,
    "alignments": lambda one: {"alignment": Linking()(one)},
    "alternatives": lambda one: {"alternatives": _alternatives(one)},
    "attention": lambda one: {"attention": _attention(one)},
}
