"""The highest of many, without sorting them all."""

from typing import NamedTuple

import torch
from torch import Tensor

_BLOCK = 128  # columns that are compared at once


class Tops(NamedTuple):
    values: Tensor  # rows K, by falling
    places: Tensor  # rows K


def tops(values: Tensor, count: int) -> Tops:
    """The `count` highest of each row (rows V), as `topk` finds them.

    They stand in the `count` blocks whose own highest are highest: there alone it is worth to look closer. On a CPU
    topk sorts through every number, which costs more than to have computed them.
    """
    blocks = values.shape[1] // _BLOCK
    if values.device.type != "cpu" or blocks <= 2 * count:
        found = values.topk(count, dim=1)
        return Tops(found.values, found.indices)
    whole = values[:, : blocks * _BLOCK].view(len(values), blocks, _BLOCK)  # rows blocks block
    near = whole.amax(-1).topk(count, dim=1).indices.sort(1).values  # rows K, which blocks
    kept = whole.gather(1, near[..., None].expand(-1, -1, _BLOCK)).flatten(1)  # rows K*block
    kept = torch.cat([kept, values[:, blocks * _BLOCK :]], dim=1)  # and what is left over, less than a block
    found = kept.topk(count, dim=1)
    within = found.indices - count * _BLOCK  # of what is left over; negative in the blocks
    block = near.gather(1, (found.indices // _BLOCK).clamp(max=count - 1))
    inside = block * _BLOCK + found.indices % _BLOCK  # rows K
    return Tops(found.values, torch.where(within >= 0, blocks * _BLOCK + within, inside))
