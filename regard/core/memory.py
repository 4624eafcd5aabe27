"""What an encoder hands to a decoder."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Memory:
    annotations: Tensor  # B S D
    mask: Tensor  # B S, True where a source piece stands
    summary: Tensor  # B L P D, the last state of each layer: its output and, for an LSTM, its cell
