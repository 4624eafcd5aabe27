"""Attention in a terminal: the answer, and shades of grey where it looked."""

import unicodedata

import numpy as np

from regard.core.prediction import Prediction
from regard.viewing.labels import label, labels, ordinary

_SHADES = " ░▒▓█"  # at 0, a quarter, a half, three quarters and one
_STRONGEST = 3


def terminal(prediction: Prediction, *, hide_special: bool = False) -> str:
    """The answer, then one line for each target piece; no colours, so that it can be piped and pasted.

    A source of characters becomes a map of shades; a source of words, which would not fit, becomes
    the words looked at most with their weights.
    """
    record = prediction.attention
    lines = ["".join(" " if letter == " " else label(letter) for letter in prediction.text)]
    if "cross" not in record.weights:
        return "\n".join([*lines, "", "No attention to draw: this model answers from one fixed vector."])
    weights = np.nan_to_num(record.cross())  # T S
    columns, rows = np.arange(len(record.source_pieces)), np.arange(len(record.target_pieces))
    if hide_special:
        columns, rows = ordinary(record.source_pieces), ordinary(record.target_pieces)
    if not len(columns) or not len(rows):
        side = "answer" if len(columns) else "source"
        return "\n".join([*lines, "", f"Nothing to draw: the {side} has no pieces."])
    across, down = labels(record.source_pieces), labels(record.target_pieces)
    margin = max(_width(down[row]) for row in rows)
    single = sum(_width(across[column]) <= 2 for column in columns) > len(columns) * 0.75

    lines.append("")
    if single:
        widths = {column: _width(across[column]) for column in columns}
        lines.append(" " * (margin + 2) + " ".join(across[column] for column in columns))
    for row in rows:
        name = " " * (margin - _width(down[row])) + down[row]
        if single:
            shades = (
                _SHADES[round(float(min(1, max(0, weights[row, at]))) * 4)] * widths[at] for at in columns
            )
            lines.append(f"{name}  {' '.join(shades)}".rstrip())
        else:
            top = sorted(columns, key=lambda column: -weights[row, column])[:_STRONGEST]
            seen = [f"{across[at]} {weights[row, at]:.2f}" for at in top if weights[row, at] >= 0.005]
            lines.append(f"{name}  {'   '.join(seen)}".rstrip())
    return "\n".join(lines)


def _width(name: str) -> int:
    """Columns of a terminal that a label takes."""
    wide = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in name)
    return wide - sum(unicodedata.combining(letter) > 0 for letter in name)
