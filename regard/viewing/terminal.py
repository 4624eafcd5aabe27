"""Attention in letters, for a terminal."""

import numpy as np
from numpy.typing import NDArray

from regard.core.prediction import AttentionRecord, Prediction
from regard.viewing.labels import NO_LOOKS, columns, labelled, plain
from regard.viewing.tree_terminal import tree_terminal

_SHADES = " ░▒▓█"  # at 0, a quarter, a half, three quarters and one
_STRONGEST = 3


def terminal(
    prediction: Prediction, *, layer: int | None = None, head: int | None = None, hide_special: bool = False
) -> str:
    """Source, answer, then a line for each target piece; no colours, so that it can be piped and pasted.

    Of one layer and head, counted from 0, or of their mean.

    A source of characters becomes a map of shades; a source of words, which would not fit, becomes
    the words looked at most with their weights. Below stands the tree of the beam, where one was recorded.
    """
    texts = [
        plain(prediction.source),
        f"{plain(prediction.text)}   (log-probability {prediction.score:.3f})",
    ]
    tree = tree_terminal(prediction)
    record = prediction.attention
    weights = record.cross(layer, head) if record.has("cross") else None
    looks = "\n".join(_looks(record, weights, hide_special))
    parts = ["\n".join(texts), looks, *([tree] if tree else [])]
    return "\n\n".join(parts)


def _looks(record: AttentionRecord, weights: NDArray[np.float32] | None, hide_special: bool) -> list[str]:
    if weights is None:
        return [NO_LOOKS]
    shown = labelled(
        np.nan_to_num(weights), record.source_pieces, record.target_pieces, hide_special=hide_special
    )
    if shown.emptiness:
        return [shown.emptiness]
    widths = list(map(columns, shown.across))
    margin = max(map(columns, shown.down))
    narrow = sum(width <= 2 for width in widths) > len(widths) * 0.75

    lines = [" " * (margin + 2) + " ".join(shown.across)] if narrow else []
    for name, row in zip(shown.down, shown.weights, strict=True):
        if narrow:
            seen = " ".join(shade(weight) * width for weight, width in zip(row, widths, strict=True))
        else:
            strongest = [at for at in np.argsort(-row, kind="stable")[:_STRONGEST] if row[at] >= 0.005]
            seen = "   ".join(f"{shown.across[at]} {row[at]:.2f}" for at in strongest)
        lines.append(f"{' ' * (margin - columns(name))}{name}  {seen}".rstrip())
    return lines


def shade(weight: float) -> str:
    """A letter for a weight from 0 to 1."""
    return _SHADES[round(min(1.0, max(0.0, float(weight))) * 4)]
