"""Attention in letters, for a terminal."""

import unicodedata

import numpy as np

from regard.core.prediction import Prediction
from regard.viewing.labels import labelled, plain

_SHADES = " ░▒▓█"  # at 0, a quarter, a half, three quarters and one
_STRONGEST = 3


def terminal(prediction: Prediction, *, hide_special: bool = False) -> str:
    """Source, answer, then a line for each target piece; no colours, so that it can be piped and pasted.

    A source of characters becomes a map of shades; a source of words, which would not fit, becomes
    the words looked at most with their weights.
    """
    record = prediction.attention
    lines = [
        plain(prediction.source),
        f"{plain(prediction.text)}   (log-probability {prediction.score:.3f})",
        "",
    ]
    if "cross" not in record.weights:
        return "\n".join([*lines, "No attention to draw: this model answers from one fixed vector."])
    shown = labelled(
        np.nan_to_num(record.cross()), record.source_pieces, record.target_pieces, hide_special=hide_special
    )
    if shown.emptiness:
        return "\n".join([*lines, shown.emptiness])
    widths = list(map(_width, shown.across))
    margin = max(map(_width, shown.down))
    narrow = sum(width <= 2 for width in widths) > len(widths) * 0.75

    if narrow:
        lines.append(" " * (margin + 2) + " ".join(shown.across))
    for name, row in zip(shown.down, shown.weights, strict=True):
        if narrow:
            seen = " ".join(_shade(weight) * width for weight, width in zip(row, widths, strict=True))
        else:
            strongest = [at for at in np.argsort(-row, kind="stable")[:_STRONGEST] if row[at] >= 0.005]
            seen = "   ".join(f"{shown.across[at]} {row[at]:.2f}" for at in strongest)
        lines.append(f"{' ' * (margin - _width(name))}{name}  {seen}".rstrip())
    return "\n".join(lines)


def _shade(weight: float) -> str:
    return _SHADES[round(min(1.0, max(0.0, float(weight))) * 4)]


def _width(name: str) -> int:
    """Columns of a terminal that a label takes."""
    wide = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in name)
    return wide - sum(unicodedata.combining(letter) > 0 for letter in name)
