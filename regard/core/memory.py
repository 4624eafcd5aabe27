"""What an encoder hands to a decoder."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Memory:
    annotations: Tensor  # B S D
    mask: Tensor  # B S, True where a source piece stands
    summary: Tensor  # B L D, the source as one vector for each layer of the encoder

    def select(self, rows: Tensor) -> "Memory":
        return Memory(self.annotations[rows], self.mask[rows], self.summary[rows])
