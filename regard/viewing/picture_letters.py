"""Looks at a picture in letters, for a terminal: a small map of shades for each word."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from regard.viewing.labels import columns
from regard.viewing.picture_looks import Looks
from regard.viewing.terminal import shade

_MOST_CELLS = 8  # a side; more are added up
_CELL = 2  # letters, about as wide as a line is high
_WIDTH, _GAP = 100, 3


def letters(looks: Looks, grid: tuple[int, int]) -> str:
    """As many maps beside each other as a line takes; a map is darkest where its word looked most."""
    maps = [_coarse(look) for look in looks.maps(grid)]
    if not maps:
        return "Nothing to draw: the answer has no pieces."
    wide = max(_CELL * maps[0].shape[1] + 2, *map(columns, looks.names))
    together = max(1, (_WIDTH + _GAP) // (wide + _GAP))
    blocks = [
        "\n".join(_lines(looks.names[at : at + together], maps[at : at + together], wide))
        for at in range(0, len(maps), together)
    ]
    return "\n\n".join(blocks)


def _lines(names: tuple[str, ...], maps: list[NDArray[np.float64]], wide: int) -> Iterator[str]:
    gap = " " * _GAP
    yield gap.join(name + " " * (wide - columns(name)) for name in names).rstrip()
    for row in range(len(maps[0])):
        shades = ("".join(shade(weight) * _CELL for weight in look[row]) for look in maps)
        yield gap.join(f"▕{one}▏".ljust(wide) for one in shades).rstrip()


def _coarse(look: NDArray[np.float64]) -> NDArray[np.float64]:
    """Few enough cells, from 0 to 1 where it is strongest."""
    for axis in (0, 1):
        together = -(-look.shape[axis] // _MOST_CELLS)
        starts = np.arange(0, look.shape[axis], together)
        look = np.add.reduceat(look, starts, axis=axis)
    largest: float = look.max()
    return look / largest if largest > 0 else look
