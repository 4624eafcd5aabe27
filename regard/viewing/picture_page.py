"""A caption and its looks at the picture as one HTML file, to be played word by word."""

import base64

from regard.core.prediction import Prediction
from regard.viewing.document import described, distributions
from regard.viewing.labels import NO_LOOKS
from regard.viewing.page import inert_json
from regard.viewing.picture_looks import Looks, Picture, called, ground, png
from regard.viewing.standalone import assets, filled, spoken
from regard.viewing.tree_page import tree_page


def picture_page(
    prediction: Prediction,
    looks: Looks | None,
    picture: Picture,
    grid: tuple[int, int],
    *,
    hide_special: bool = False,
) -> str:
    """The whole page, of all layers and heads. Texts enter as data or escaped, never as markup."""
    tree = tree_page(prediction)
    parts = ("picture", "tree") if tree else ("picture",)
    document = described(prediction)
    content = {
        "words": looks.names if looks else [],
        "marks": looks.marks if looks else [],
        "shape": looks.weights.shape if looks else [],
        "weights": distributions(looks.weights) if looks else [],
        "grid": grid,
        "hidden": hide_special,
        **{name: document[name] for name in ("text", "score", "finished")},
    }
    notices = [] if looks else [NO_LOOKS]
    notices += [picture] if isinstance(picture, str) else []
    values = {
        "title": spoken(f"{prediction.text[:60] or 'Attention'} · Regard"),
        "data": inert_json(content),
        "name": spoken(called(prediction.source)),
        "answer": spoken(prediction.text),
        "picture": f"data:image/png;base64,{base64.b64encode(png(ground(picture))).decode()}",
        "notices": "".join(f'<p class="notice">{spoken(notice)}</p>' for notice in notices),
        "tree": tree,
    }
    return filled(
        "picture.html",
        values,
        style=assets("base.css", "controls.css", "attention.css", *(f"{part}.css" for part in parts)),
        script=assets("controls.js", *(f"{part}.js" for part in parts)),
        pictures=True,
    )
