"""Attention inside a notebook: one small drawing without scripts, styles or files of its own."""

from html import escape

import numpy as np
from numpy.typing import NDArray

from regard.core.prediction import Prediction
from regard.core.surrogates import without_surrogates
from regard.viewing.colours import INK, LINE, QUIET, hexadecimal
from regard.viewing.drawing import Dress, drawn
from regard.viewing.labels import NO_LOOKS, labelled

BOX = (
    f"background:#fff;color:{INK};border:1px solid {LINE};border-radius:8px;padding:12px 14px;"
    "max-width:100%;overflow-x:auto;display:inline-block;font:13px/1.5 system-ui,sans-serif"
)
_DRESS = Dress(
    picture=f'style="display:block;max-width:none;font:12px ui-monospace,monospace" fill="{INK}"',
    cell=lambda weight: f'fill="{hexadecimal(weight)}"',
    grid=f'stroke="{LINE}" fill="none"',
)


def fragment(
    prediction: Prediction,
    weights: NDArray[np.float32] | None,
    *,
    hide_special: bool = False,
    caption: str | None = None,
) -> str:
    """The answer and one matrix `[target, source]` of weights, or a sentence when there is none."""
    record = prediction.attention
    answer = answered(prediction, prediction.source)
    if weights is None:
        drawing = f"<div>{NO_LOOKS}</div>"
    else:
        shown = labelled(weights, record.source_pieces, record.target_pieces, hide_special=hide_special)
        drawing = f"<div>{shown.emptiness}</div>" if shown.emptiness else drawn(shown, _DRESS)
    below = f'<div style="color:{QUIET};font-size:12px">{escape(caption)}</div>' if caption else ""
    return f'<div style="{BOX}">{answer}{drawing}{below}</div>'


def answered(prediction: Prediction, source: str) -> str:
    """A line: what was asked, what was answered, how likely that is."""
    return (
        f'<div style="margin-bottom:6px;color:{QUIET}">{_text(source)} → '
        f'<strong style="color:{INK}">{_text(prediction.text)}</strong> '
        f'<span style="white-space:nowrap">log-probability {_number(prediction.score)}'
        f"{'' if prediction.finished else ', cut off'}</span></div>"
    )


def _text(text: str) -> str:
    return escape(without_surrogates(text if len(text) <= 300 else text[:299] + "…"))


def _number(score: float) -> str:
    return f"{score:.3f}".replace("-", "−")
