"""What an encoder hands to a decoder."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from regard.core.kinds import KINDS
from regard.core.load import Load
from regard.core.rows import Rows, close


@dataclass(frozen=True)
class Memory:
    annotations: Tensor  # B S D
    mask: Tensor  # B S, True where a source piece stands
    summary: Tensor  # B L P D, the last state of each layer: its output and, for an LSTM, its cell
    wanted: frozenset[str] = KINDS  # the kinds of attention that somebody wants to see
    attention: Mapping[str, Tensor] = field(default_factory=dict)  # of the encoder itself: B L H S S
    # L times B S D, what each layer looked at, for a decoder that shares them
    layers: tuple[Tensor, ...] = ()
    loads: tuple[Load, ...] = ()  # of the encoder's layers that have experts, in training
    values: Tensor | None = None  # B S D, what a look brings home where it is not the annotations
    pieces: Tensor | None = None  # B S, the ids of the source, for a decoder that can say them
    context: "Memory | None" = None  # of what stands beside the source, for a decoder that looks there too

    def select(self, rows: Tensor) -> "Memory":
        """Of some sources, in another order, or several times; without the looks and loads of their encoder."""
        return replace(
            self,
            annotations=self.annotations.index_select(0, rows),
            mask=self.mask.index_select(0, rows),
            summary=self.summary.index_select(0, rows),
            attention={},
            layers=tuple(layer.index_select(0, rows) for layer in self.layers),
            loads=(),
            values=self.values.index_select(0, rows) if self.values is not None else None,
            pieces=self.pieces.index_select(0, rows) if self.pieces is not None else None,
            context=self.context.select(rows) if self.context is not None else None,
        )

    @property
    def rows(self) -> Rows | None:
        """Where the annotations stand, if it pays to leave padding out."""
        return self._rows if torch.is_grad_enabled() else None

    @property
    def closed(self) -> Tensor:
        """N D, the annotations without padding; or all of them, B S D, where it may stay."""
        return self._closed if torch.is_grad_enabled() else self.annotations

    # Kept, because every layer needs them; but only of passes with gradients: one without may come before them.
    @cached_property
    def _rows(self) -> Rows | None:
        return Rows.of(self.mask)

    @cached_property
    def _closed(self) -> Tensor:
        return close(self.annotations, self._rows)
