"""A heat map as an SVG element inside a page, dressed as the page is."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np

from regard.viewing.labels import Labelled, columns

_CELL, _LETTER, _PAD = 18, 7.4, 8  # pixels; letters are set in a monospaced font so that their width is known
_FAINTEST = 0.004  # a cell this pale cannot be told from white


@dataclass(frozen=True)
class Dress:
    """The attributes that say how it looks: colours in them, or classes of a style."""

    picture: str
    cell: Callable[[float], str]  # by weight
    grid: str


def drawn(shown: Labelled, dress: Dress) -> str:
    """An `svg` element. Pieces enter as escaped texts, never as markup."""
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
        f"{dress.picture}>"
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
            f"{dress.cell(weight)}><title>{words}</title></rect>"
        )
    verticals = "".join(f"M{left + _CELL * at + 0.5:g} {top}v{high}" for at in range(len(across) + 1))
    horizontals = "".join(f"M{left} {top + _CELL * at + 0.5:g}h{wide}" for at in range(len(down) + 1))
    parts.append(f'<path d="{verticals}{horizontals}" {dress.grid} pointer-events="none"/></svg>')
    return "".join(parts)
