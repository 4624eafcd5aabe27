"""One scale for weights: white, blue, ink. Even steps of weight are even steps to the eye, on paper too.

The page draws the same scale with `color-mix(in oklab, ...)`; its anchors stand in `assets/base.css`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

ANCHORS = ("#ffffff", "#7196dc", "#14235a")  # at weight 0, a half and one: lightness falls evenly
BAD = "#d8d4cc"  # where a weight is not a number
INK, QUIET, LINE, ACCENT = "#1d2230", "#6a7183", "#e3e6ee", "#b8501a"

# Björn Ottosson's OKLab, the space of CSS Color 4: linear light -> cone response -> lightness and opponents.
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def oklab(colour: str) -> NDArray[np.float64]:
    """Lightness, green to red, blue to yellow of `#rrggbb`."""
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    lab: NDArray[np.float64] = _TO_LAB @ np.cbrt(_TO_CONES @ linear)
    return lab


def ramp(weights: ArrayLike) -> NDArray[np.float64]:
    """Red, green and blue from 0 to 1 for weights from 0 to 1: `[..., 3]`."""
    weights = np.clip(np.asarray(weights, dtype=np.float64), 0, 1)
    anchors = np.stack([oklab(colour) for colour in ANCHORS])  # 3 3
    places = np.linspace(0, 1, len(ANCHORS))
    lab = np.stack([np.interp(weights, places, anchors[:, axis]) for axis in range(3)], axis=-1)
    cones = (lab @ np.linalg.inv(_TO_LAB).T) ** 3
    linear = np.clip(cones @ np.linalg.inv(_TO_CONES).T, 0, 1)
    channels: NDArray[np.float64] = np.where(
        linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055
    )
    return channels


def hexadecimal(weight: float) -> str:
    if not np.isfinite(weight):
        return BAD
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in ramp(weight))
