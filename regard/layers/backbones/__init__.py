"""Backbones: what a network sees of a picture, as a map of vectors."""

from functools import partial
from typing import Protocol

from torch import Tensor

from regard.layers.backbones.efficientnet import FEATURES, LITE0, LITE1, LITE2, EfficientNetLite
from regard.layers.backbones.plain import Patches, SmallCnn


class Backbone(Protocol):
    """A module from pixels to a map; normalising them is its own matter."""

    width: int  # D, of a vector
    size: int  # pixels a side that it wants
    grid: tuple[int, int]  # h and w of the map

    def __call__(self, pixels: Tensor) -> Tensor:
        """B 3 H W, bytes -> B D h w."""
        ...


BACKBONES = {
    "efficientnet_lite0": partial(EfficientNetLite, LITE0),
    "efficientnet_lite1": partial(EfficientNetLite, LITE1),
    "efficientnet_lite2": partial(EfficientNetLite, LITE2),
    "small_cnn": SmallCnn,
    "patches": Patches,
}

__all__ = ["BACKBONES", "FEATURES", "Backbone", "EfficientNetLite", "Patches", "SmallCnn"]
