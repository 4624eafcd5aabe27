"""A prediction as one HTML file: everything inside, nothing fetched, opens from a disk or a mail."""

import json
from dataclasses import replace
from typing import Any

from regard.core.kinds import CROSS
from regard.core.pieces import MARKS
from regard.core.prediction import AttentionRecord, Prediction, Weights
from regard.viewing.document import as_document
from regard.viewing.labels import labels
from regard.viewing.standalone import assets, filled, spoken
from regard.viewing.tree_page import tree_page


def page(prediction: Prediction, *, hide_special: bool = False) -> str:
    """The whole page. Texts of the prediction enter as data or escaped, never as markup.

    Special pieces can be hidden and shown on the page; `hide_special` is how it begins.
    """
    tree = tree_page(prediction)
    parts = ("attention", "tree") if tree else ("attention",)
    record = prediction.attention
    looks = {CROSS: _at_the_source(record)} if record.has(CROSS) else {}
    document = as_document(replace(prediction, attention=replace(record, weights=looks)))
    document.pop("beam", None)  # it is drawn already
    content = {
        "prediction": document,
        "labels": {
            "source": labels(prediction.attention.source_pieces),
            "target": labels(prediction.attention.target_pieces),
        },
        "special": MARKS,
        "hidden": hide_special,
    }
    values = {
        "title": spoken(f"{prediction.text[:60] or 'Attention'} · Regard"),
        "data": inert_json(content),
        "source": spoken(prediction.source),
        "unread": _unread(prediction),
        "tree": tree,
        "answer": spoken(prediction.text),
    }
    return filled(
        "attention.html",
        values,
        style=assets("base.css", *(f"{part}.css" for part in parts)),
        script=assets(*(f"{part}.js" for part in parts)),
    )


def _at_the_source(record: AttentionRecord) -> Weights:
    """All layers and heads; of an ensemble, the mean over its members."""
    return record.weights[CROSS] if CROSS in record.weights else record.cross()[None, None]


def _unread(prediction: Prediction) -> str:
    if not prediction.unread:
        return ""
    sentence = f"{prediction.unread:,} of its pieces were not read: it is longer than this model reads."
    return f'<p class="unread">{spoken(sentence)}</p>'


def inert_json(content: dict[str, Any]) -> str:
    """JSON in ASCII without a single character that could end or open anything in HTML."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
