"""The highest of many, without sorting them all."""

from typing import NamedTuple

from torch import Tensor
from torch.nn import functional

_BLOCK = 128  # columns that are compared at once


class Tops(NamedTuple):
    values: Tensor  # rows K, by falling
    places: Tensor  # rows K


def tops(values: Tensor, count: int) -> Tops:
    """The `count` highest of each row (rows V), as `topk` finds them.

    They stand in the `count` blocks whose own highest are highest: there alone it is worth to look closer. On a CPU
    topk sorts through every number, which costs more than to have computed them.
    """
    rows, width = values.shape
    blocks = -(-width // _BLOCK)
    if values.device.type != "cpu" or blocks <= 2 * count:
        found = values.topk(count, dim=1)
        return Tops(found.values, found.indices)
    whole = functional.pad(values, (0, blocks * _BLOCK - width), value=float("-inf"))
    whole = whole.view(rows, blocks, _BLOCK)
    near = whole.amax(-1).topk(count, dim=1).indices.sort(1).values  # rows K, which blocks
    kept = whole.gather(1, near[..., None].expand(-1, -1, _BLOCK)).flatten(1)  # rows K*block
    found = kept.topk(count, dim=1)
    places = near.gather(1, found.indices // _BLOCK) * _BLOCK + found.indices % _BLOCK
    return Tops(found.values, places.clamp(max=width - 1))  # beyond it stands what fills up the last block
