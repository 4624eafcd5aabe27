"""A prediction as one HTML file: everything inside, nothing fetched, opens from a disk or a mail."""

import json
from dataclasses import replace
from typing import Any

from regard.core.kinds import CONTEXT, CROSS, DECODER, ENCODER
from regard.core.pieces import MARKS
from regard.core.prediction import AttentionRecord, Prediction, Weights
from regard.viewing.document import as_document
from regard.viewing.labels import labels
from regard.viewing.standalone import assets, filled, spoken
from regard.viewing.tree_page import tree_page

# For each kind: the headings of what is looked at and of who looks, and what a row shows.
_TOLD = {
    CROSS: ("Source", "Answer", "where one piece of the answer looked in the source"),
    CONTEXT: ("Context", "Answer", "where one step of the answer looked in the context"),
    ENCODER: ("Looked at", "Looking", "where one piece of the source looked in the source"),
    DECODER: ("Before", "Answer", "where one piece of the answer looked in what stands before it"),
}


def page(prediction: Prediction, *, hide_special: bool = False, kind: str = CROSS) -> str:
    """The whole page, of one kind of look. Texts of the prediction enter as data or escaped, never as markup.

    Special pieces can be hidden and shown on the page; `hide_special` is how it begins.
    """
    answer = prediction.text
    looked_at, looking, told = _TOLD[kind]
    tree = tree_page(prediction)
    prediction = _seen(prediction, kind)
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
        "told": told,
    }
    values = {
        "title": spoken(f"{answer[:60] or 'Attention'} · Regard"),
        "data": inert_json(content),
        "source_name": looked_at,
        "answer_name": looking,
        "source": spoken(prediction.source),
        "unread": _unread(prediction),
        "tree": tree,
        "answer": spoken(prediction.text),
    }
    return filled(
        "attention.html",
        values,
        style=assets("base.css", "controls.css", *(f"{part}.css" for part in parts)),
        script=assets("controls.js", *(f"{part}.js" for part in parts)),
    )


def _seen(prediction: Prediction, kind: str) -> Prediction:
    """As if the looks of this kind were those at the source, with the texts that go with them."""
    record = prediction.attention.seen(kind)
    if kind == ENCODER:
        return replace(prediction, attention=record, text=prediction.source)
    if kind == CROSS:
        return prediction
    seen = prediction.text if kind == DECODER else " ".join(record.source_pieces)
    return replace(prediction, attention=record, source=seen, unread=0)


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
