"""A prediction as one HTML file: everything inside, nothing fetched, opens from a disk or a mail."""

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import Any

from regard.core.pieces import MARKS
from regard.core.prediction import Prediction
from regard.viewing.document import as_document, well_formed
from regard.viewing.labels import labels
from regard.viewing.tree_page import tree_page


def page(prediction: Prediction, *, hide_special: bool = False) -> str:
    """The whole page. Texts of the prediction enter as data or escaped, never as markup.

    Special pieces can be hidden and shown on the page; `hide_special` is how it begins.
    """
    tree = tree_page(prediction)
    parts = ("attention", "tree") if tree else ("attention",)
    style, script = ("".join(_asset(f"{part}.{kind}") for part in parts) for kind in ("css", "js"))
    document = as_document(prediction)
    document.pop("beam", None)  # it is drawn already
    document["attention"] = {kind: look for kind, look in document["attention"].items() if kind == "cross"}
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
        "policy": _policy(style, script),
        "title": escape(well_formed(f"{prediction.text[:60] or 'Attention'} · Regard").replace("\0", "")),
        "style": style,
        "script": script,
        "data": _inert_json(content),
        "source": escape(well_formed(prediction.source).replace("\0", "")),
        "tree": tree,
        "answer": escape(well_formed(prediction.text).replace("\0", "")),
    }
    template = _asset("attention.html").split("{{")
    # One pass over the template, so that a text with braces in it is not filled in again.
    return template[0] + "".join(
        values[name] + rest for name, _, rest in (part.partition("}}") for part in template[1:])
    )


def _asset(name: str) -> str:
    return files("regard.viewing").joinpath("assets", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded, sent or run but the one style and the one script written here."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _inert_json(content: dict[str, Any]) -> str:
    """JSON in ASCII without a single character that could end or open anything in HTML."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
