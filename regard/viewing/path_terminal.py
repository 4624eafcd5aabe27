"""Paths in letters, for a terminal."""

import numpy as np
from numpy.typing import NDArray

from regard.core.points import Points
from regard.core.prediction import Prediction
from regard.viewing.labels import NO_LOOKS
from regard.viewing.path_data import LOOKS, Look, Paths, columns_of, steps_after

_WIDE, _HIGH = 64, 16  # of the drawing; a letter is twice as high as wide
_SHADES = " ░▒▓█"
_LONGEST = 48  # a look at more is told by its strongest alone
_STRONGEST = 2


def path_terminal(prediction: Prediction, paths: Paths) -> str:
    """The path, then a line for each predicted step: where it is and what was looked at for it."""
    told = f"log-likelihood {prediction.score:.3f}"
    if paths.distances is not None:
        told += ", off the true path by {:.3g} in the mean and {:.3g} at the end".format(*paths.distances)
    parts = [told, *([_plane(paths)] if paths.size == 2 else []), "\n".join(_steps(paths))]
    return "\n\n".join(parts)


def _plane(paths: Paths) -> str:
    """Dots are observed, o is predicted, + is true."""
    every = paths.every[np.isfinite(paths.every).all(axis=1)]
    if not len(every):
        return "No point is wholly known."
    low, high = every.min(axis=0), every.max(axis=0)
    unit = max((high[0] - low[0]) / (_WIDE - 1), (high[1] - low[1]) / (2 * (_HIGH - 1)), 1e-12)
    rows = [
        [" "] * (round((high[0] - low[0]) / unit) + 1)
        for _ in range(round((high[1] - low[1]) / unit / 2) + 1)
    ]

    def put(points: Points, letter: str) -> None:
        for x, y in points[np.isfinite(points).all(axis=1)]:
            rows[round((high[1] - y) / unit / 2)][round((x - low[0]) / unit)] = letter

    put(paths.observed, "·")
    if paths.true is not None:
        put(paths.true, "+")
    put(paths.predicted, "o")
    names = "· observed   o predicted" + ("   + true" if paths.true is not None else "")
    return "\n".join(["".join(row).rstrip() for row in rows] + [names])


def _steps(paths: Paths) -> list[str]:
    if not len(paths.predicted):
        return ["No points were predicted."]
    looks = {kind: look for kind, look in paths.looks.items() if len(look) == len(paths.predicted)}
    places = [", ".join(f"{value:.4g}" for value in point) for point in paths.predicted]
    wide = max(map(len, places))
    numbers = steps_after(len(places))
    lines = []
    for at, (number, place) in enumerate(zip(numbers, places, strict=True)):
        seen = "   ".join(f"{LOOKS[kind]} {_seen(kind, look, look[at])}" for kind, look in looks.items())
        lines.append(f"{number:>{len(numbers[-1])}}  {place:<{wide}}  {seen}".rstrip())
    return lines if looks else [*lines, NO_LOOKS]


def _seen(kind: str, look: Look, row: NDArray[np.float32]) -> str:
    names, row = columns_of(kind, look.shape[1]), np.nan_to_num(row)
    strongest = [at for at in np.argsort(-row, kind="stable")[:_STRONGEST] if row[at] >= 0.005]
    told = " ".join(f"{names[at]}: {row[at]:.2f}" for at in strongest)
    if look.shape[1] > _LONGEST:
        return told
    shades = "".join(_SHADES[round(min(1.0, max(0.0, float(weight))) * 4)] for weight in row)
    return f"[{shades}] {told:<18}"
