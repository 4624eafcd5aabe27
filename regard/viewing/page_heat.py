"""Attention on a page that is light or dark as its reader's screen is: cells are classes of the page's style."""

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from regard.viewing.drawing import Dress, drawn
from regard.viewing.labels import labelled

STEPS = 40  # shades between no weight and all of it
MOST = 10_000  # cells of one picture: a page of many must stay small enough to send
LONG = 60  # parts of a source: of more a map is wider than a page
STRONGEST = 4  # parts of a long source are told for each part of the answer,
LEAST = 0.04  # from this weight on


def _shade(step: int) -> str:
    """The scale of `colours.py`: from low to middle in its first half, from middle to high in its second."""
    percent = 200 * step / STEPS
    if percent <= 100:
        return f"color-mix(in oklab,var(--middle) {percent:g}%,var(--low))"
    return f"color-mix(in oklab,var(--high) {percent - 100:g}%,var(--middle))"


LEVELS = "".join(  # the style of the cells, and of marks in a text
    f".w{step}{{fill:{_shade(step)};--weight:{100 * step / STEPS:g}%}}\n" for step in range(STEPS + 1)
)


def _level(weight: float) -> str:
    return f'class="w{round(STEPS * min(max(weight, 0), 1))}"' if np.isfinite(weight) else 'class="bad"'


_DRESS = Dress(picture='class="look"', cell=_level, grid='class="grid"')


_EVEN = '<span class="empty">nothing more than the rest</span>'


def page_words(
    weights: NDArray[np.float32], source_pieces: Sequence[str], target_pieces: Sequence[str]
) -> tuple[str, str | None]:
    """Which parts of a long source each part of the answer looked at most; or nothing, and why there is none."""
    shown = labelled(weights, source_pieces, target_pieces)
    if shown.emptiness:
        return "", shown.emptiness
    rows = ""
    for name, row in zip(shown.down, shown.weights, strict=True):
        most = [at for at in np.argsort(-row, kind="stable")[:STRONGEST] if row[at] >= LEAST]
        marks = " ".join(
            f'<mark {_level(row[at])} title="{row[at]:.3f}">{escape(shown.across[at])}</mark>'
            for at in sorted(most)
        )
        rows += f"<dt>{escape(name)}</dt><dd>{marks or _EVEN}</dd>"
    return f'<dl class="looked">{rows}</dl>', None


def page_heat(
    weights: NDArray[np.float32], source_pieces: Sequence[str], target_pieces: Sequence[str]
) -> tuple[str, str | None]:
    """The picture of one matrix `[target, source]`; or nothing, and why there is none."""
    shown = labelled(weights, source_pieces, target_pieces)
    if shown.emptiness:
        return "", shown.emptiness
    if shown.weights.size > MOST:
        return "", f"No picture: {len(shown.down)} by {len(shown.across)} pieces are too many for this page."
    return drawn(shown, _DRESS), None
