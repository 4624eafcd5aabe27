"""Attention inside a notebook: one small drawing without scripts, styles or files of its own."""

import math
from html import escape

import numpy as np
from numpy.typing import NDArray

from regard.core.prediction import Prediction
from regard.viewing.colours import INK, LINE, QUIET, hexadecimal
from regard.viewing.document import well_formed
from regard.viewing.labels import Labelled, columns, labelled

_CELL, _LETTER, _PAD = 18, 7.4, 8  # pixels; letters are set in a monospaced font so that their width is known
_FAINTEST = 0.004  # a cell this pale cannot be told from white

_BOX = (
    f"background:#fff;color:{INK};border:1px solid {LINE};border-radius:8px;padding:12px 14px;"
    "max-width:100%;overflow-x:auto;display:inline-block;font:13px/1.5 system-ui,sans-serif"
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
    answer = (
        f'<div style="margin-bottom:6px;color:{QUIET}">{_text(prediction.source)} → '
        f'<strong style="color:{INK}">{_text(prediction.text)}</strong> '
        f'<span style="white-space:nowrap">log-probability {_number(prediction.score)}'
        f"{'' if prediction.finished else ', cut off'}</span></div>"
    )
    if weights is None:
        drawing = "<div>No attention to draw: this model answers from one fixed vector.</div>"
    else:
        shown = labelled(weights, record.source_pieces, record.target_pieces, hide_special=hide_special)
        drawing = f"<div>{shown.emptiness}</div>" if shown.emptiness else _drawing(shown)
    below = f'<div style="color:{QUIET};font-size:12px">{escape(caption)}</div>' if caption else ""
    return f'<div style="{_BOX}">{answer}{drawing}{below}</div>'


def _drawing(shown: Labelled) -> str:
    weights, across, down = shown.weights, shown.across, shown.down
    turned = [columns(name) > 2 for name in across]
    if sum(turned) > len(across) / 4:
        turned = [True] * len(across)
    left = math.ceil(max(map(columns, down)) * _LETTER) + _PAD
    longest = max((columns(name) for name, turn in zip(across, turned, strict=True) if turn), default=0)
    top = max(_CELL, math.ceil(longest * _LETTER) + _PAD)
    wide, high = _CELL * len(across), _CELL * len(down)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 1}" height="{top + high + 1}" '
        f'role="img" aria-label="Attention: {len(down)} target pieces over {len(across)} source pieces" '
        f'style="display:block;max-width:none;font:12px ui-monospace,monospace" fill="{INK}">'
    ]
    for column, (name, turn) in enumerate(zip(across, turned, strict=True)):
        x = left + _CELL * (column + 0.5)
        place = f'x="{x:g}" y="{top - 6}" text-anchor="middle"'
        if turn:
            place = f'transform="translate({x + 4:g} {top - 5}) rotate(-90)"'
        parts.append(f"<text {place}>{escape(name)}</text>")
    for row, name in enumerate(down):
        y = top + _CELL * (row + 0.5) + 4
        parts.append(f'<text x="{left - 6}" y="{y:g}" text-anchor="end">{escape(name)}</text>')
    for row, column in zip(*np.nonzero(~(weights < _FAINTEST)), strict=True):
        weight = float(weights[row, column])
        words = escape(f"{down[row]} looked at {across[column]}: {weight:.3f}")
        parts.append(
            f'<rect x="{left + _CELL * column}" y="{top + _CELL * row}" width="{_CELL}" height="{_CELL}" '
            f'fill="{hexadecimal(weight)}"><title>{words}</title></rect>'
        )
    verticals = "".join(f"M{left + _CELL * at + 0.5:g} {top}v{high}" for at in range(len(across) + 1))
    horizontals = "".join(f"M{left} {top + _CELL * at + 0.5:g}h{wide}" for at in range(len(down) + 1))
    parts.append(
        f'<path d="{verticals}{horizontals}" stroke="{LINE}" fill="none" pointer-events="none"/></svg>'
    )
    return "".join(parts)


def _text(text: str) -> str:
    return escape(well_formed(text if len(text) <= 300 else text[:299] + "…"))


def _number(score: float) -> str:
    return f"{score:.3f}".replace("-", "−")
