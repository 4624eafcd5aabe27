"""Keys and values of the steps taken so far."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

_ROOM = 32  # steps for which a buffer grows at a time


class _Buffer:
    """Keys, values and mask, with room to grow, and how much of it is taken."""

    def __init__(self, keys: Tensor, values: Tensor, mask: Tensor, *, room: int = 0):
        self.keys = functional.pad(keys, (0, 0, 0, room)) if room else keys  # B H C K
        self.values = functional.pad(values, (0, 0, 0, room)) if room else values  # B H C V
        self.mask = functional.pad(mask, (0, room)) if room else mask  # B C
        self.taken = mask.shape[1]


@dataclass(frozen=True)
class Cache:
    """A value that grows: `append` gives a longer one, and the shorter one stays as it was.

    Both share one buffer, as long as nobody else has taken the next place in it: a step then writes
    its own keys and copies nothing.
    """

    _buffer: _Buffer
    length: int

    @staticmethod
    def of(keys: Tensor, values: Tensor, mask: Tensor) -> "Cache":
        """B H S K, B H S V, B S."""
        return Cache(_Buffer(keys, values, mask), mask.shape[1])

    @property
    def keys(self) -> Tensor:
        return self._buffer.keys[:, :, : self.length]  # B H S K

    @property
    def values(self) -> Tensor:
        return self._buffer.values[:, :, : self.length]  # B H S V

    @property
    def mask(self) -> Tensor:
        return self._buffer.mask[:, : self.length]  # B S

    def append(self, keys: Tensor, values: Tensor, mask: Tensor) -> "Cache":
        """B H T K, B H T V, B T."""
        length = self.length + mask.shape[1]
        if keys.requires_grad or values.requires_grad:  # autograd needs what it saw to stay as it was
            longer = torch.cat([self.keys, keys], dim=2), torch.cat([self.values, values], dim=2)
            return Cache.of(*longer, torch.cat([self.mask, mask], dim=1))
        buffer = self._buffer
        if buffer.taken != self.length or length > buffer.mask.shape[1]:
            room = max(_ROOM, mask.shape[1])
            buffer = _Buffer(self.keys, self.values, self.mask, room=room)
        buffer.keys[:, :, self.length : length] = keys
        buffer.values[:, :, self.length : length] = values
        buffer.mask[:, self.length : length] = mask
        buffer.taken = length
        return Cache(buffer, length)

    def select(self, rows: Tensor) -> "Cache":
        """With as much room as is left, so that the next step need not make it again; only what is taken moves."""
        buffer = self._buffer
        parts = (buffer.keys, 2), (buffer.values, 2), (buffer.mask, 1)
        chosen = _Buffer(*(_chosen(part, rows, dim, self.length) for part, dim in parts))
        chosen.taken = self.length
        return Cache(chosen, self.length)


def _chosen(part: Tensor, rows: Tensor, dim: int, length: int) -> Tensor:
    """Some rows of a buffer, whose dimension `dim` is taken up to a length."""
    if part.requires_grad or length == part.shape[dim]:
        return part[rows]
    chosen = part.new_empty(len(rows), *part.shape[1:])
    torch.index_select(part.narrow(dim, 0, length), 0, rows, out=chosen.narrow(dim, 0, length))
    return chosen
