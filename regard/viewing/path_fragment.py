"""Paths inside a notebook: one drawing without scripts, styles or files of its own."""

from html import escape

import numpy as np
from numpy.typing import NDArray

from regard.core.prediction import Prediction
from regard.viewing.colours import ACCENT, INK, LINE, QUIET, hexadecimal
from regard.viewing.drawing import Dress, drawn
from regard.viewing.fragment import BOX
from regard.viewing.labels import Labelled
from regard.viewing.path_data import LOOKED, LOOKS, OBSERVED, TRUE, Paths, columns_of, steps_after
from regard.viewing.path_svg import drawn_paths

MOST_CELLS = 10_000  # of a map

_LOOKS_LIKE = {
    "paths": 'style="display:block;font:11px system-ui,sans-serif" fill="none"',
    "rule": f'stroke="{LINE}"',
    "tick": f'fill="{QUIET}"',
    "name": f'fill="{QUIET}"',
    "sample": f'stroke="{ACCENT}" stroke-opacity=".3"',
    "observed": f'stroke="{OBSERVED}" stroke-width="1.8"',
    "true": f'stroke="{TRUE}" stroke-width="1.8" stroke-dasharray="5 3"',
    "predicted": f'stroke="{ACCENT}" stroke-width="1.8"',
    "mark": f'fill="{LOOKED}" fill-opacity=".35"',
    "seen": f'fill="{OBSERVED}"',
    "near": 'fill="none"',
    "said": f'fill="{ACCENT}"',
}
_MAP = Dress(
    picture=f'style="display:block;max-width:none;font:12px ui-monospace,monospace" fill="{INK}"',
    cell=lambda weight: f'fill="{hexadecimal(weight)}"',
    grid=f'stroke="{LINE}" fill="none"',
)


def path_fragment(
    prediction: Prediction, paths: Paths, marks: NDArray[np.float64] | None, caption: str | None = None
) -> str:
    """The paths with marks of how much was looked at each observed point, and the maps beside them."""
    words = [
        ("observed", OBSERVED),
        ("predicted", ACCENT),
        *([("true", TRUE)] if paths.true is not None else []),
    ]
    legend = " ".join(f'<b style="color:{colour}">{word}</b>' for word, colour in words)
    score = f"{prediction.score:.3f}".replace("-", "−")
    told = f'<div style="color:{QUIET}">{legend} log-likelihood {score}</div>'
    maps = "".join(_map(paths, kind) for kind in paths.looks)
    below = f'<div style="color:{QUIET};font-size:12px">{escape(caption)}</div>' if caption else ""
    drawing = drawn_paths(paths, _LOOKS_LIKE.__getitem__, marks)
    both = f'<div style="display:flex;flex-wrap:wrap;gap:20px;align-items:flex-start">{drawing}{maps}</div>'
    return f'<div style="{BOX}">{told}{both}{below}</div>'


def nothing_to_draw(sentence: str) -> str:
    return f'<div style="{BOX}">{escape(sentence)}</div>'


def _map(paths: Paths, kind: str) -> str:
    look = paths.looks[kind]
    if not 0 < look.size <= MOST_CELLS:
        return ""
    shown = Labelled(look, tuple(columns_of(kind, look.shape[1])), tuple(steps_after(len(look))))
    name = f'<div style="color:{QUIET};font-size:12px">predicted step over {LOOKS[kind]} step</div>'
    return f"<div>{name}{drawn(shown, _MAP)}</div>"
