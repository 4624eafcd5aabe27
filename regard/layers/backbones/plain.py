"""Backbones that are trained from nothing."""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.core.errors import UserError

_MIDDLE, _SPREAD = 127.5, 73.6  # of bytes that are all as likely
NARROWEST = 32  # channels of a stage, where the last has as many


class SmallCnn(nn.Module):
    """Stages that see half as finely and twice as widely, each, as the one before, but none is very narrow.

    A stage halves the picture; all but the first look once more and add what they found (He et al. 2016). Layer norm
    over all of a picture (group norm of one group, Wu & He 2018) looks at one picture alone, so that its neighbours in
    a batch change nothing.
    """

    def __init__(self, *, size: int = 64, width: int = 128, layers: int = 3):
        super().__init__()
        if size % 2**layers:
            raise UserError(f"A picture of {size} pixels a side cannot be halved {layers} times.")
        self.width, self.size = width, size
        self.grid = (size // 2**layers,) * 2
        widths = [max(width // 2**above, min(width, NARROWEST)) for above in reversed(range(layers))]
        stages = [_Stage(before, after) for before, after in pairwise(widths)]
        self.stages = nn.Sequential(_Convolution(3, widths[0], stride=2), *stages)

    def forward(self, pixels: Tensor) -> Tensor:
        found: Tensor = self.stages(_normal(pixels, next(self.parameters()).dtype))
        return found  # B D h w


class _Stage(nn.Module):
    def __init__(self, before: int, after: int):
        super().__init__()
        self.halve = _Convolution(before, after, stride=2)
        self.look = _Convolution(after, after, rectified=False)

    def forward(self, seen: Tensor) -> Tensor:
        halved: Tensor = self.halve(seen)
        return functional.relu(halved + self.look(halved))


class _Convolution(nn.Module):
    def __init__(self, before: int, after: int, *, stride: int = 1, rectified: bool = True):
        super().__init__()
        self.look = nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.GroupNorm(1, after)
        self.rectified = rectified

    def forward(self, seen: Tensor) -> Tensor:
        found: Tensor = self.norm(self.look(seen))
        return functional.relu(found) if self.rectified else found


class Patches(nn.Module):
    """Squares of the picture, each through the same matrix (Dosovitskiy et al. 2021, equation 1)."""

    def __init__(self, *, size: int = 64, width: int = 128, patch: int = 8):
        super().__init__()
        if size % patch:
            raise UserError(f"A picture of {size} pixels a side cannot be cut into patches of {patch}.")
        self.width, self.size = width, size
        self.grid = (size // patch,) * 2
        self.look = nn.Conv2d(3, width, patch, stride=patch)

    def forward(self, pixels: Tensor) -> Tensor:
        found: Tensor = self.look(_normal(pixels, self.look.weight.dtype))
        return found  # B D h w


def _normal(pixels: Tensor, dtype: torch.dtype) -> Tensor:
    pixels = pixels.contiguous(memory_format=torch.channels_last)  # faster on a CPU
    return (pixels.to(dtype) - _MIDDLE) / _SPREAD
