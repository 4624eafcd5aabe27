"""Recurrent layers one above the other, as decoders need them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from torch import Tensor, nn

from regard.layers import CELLS, Linear, RecurrentLayer, SequenceDropout


@dataclass(frozen=True)
class StackState:
    layers: tuple[Tensor, ...]  # L times B (P D), each in its cell's own form
    masks: tuple[Tensor, ...] = ()  # variational dropout, the same at every step: L-1 times B D, or none

    def select(self, rows: Tensor) -> "StackState":
        return StackState(
            tuple(layer[rows] for layer in self.layers), tuple(mask[rows] for mask in self.masks)
        )

    def with_lowest(self, layer: Tensor) -> "StackState":
        return StackState((layer, *self.layers[1:]), self.masks)


class Stack(nn.Module):
    """Reads at each step an input that may be known beforehand and one that is known only then (`late`).

    The late input, a context or the last features, goes to the lowest layer or, `late_to_all`, to
    every layer (Wu et al. 2016, section 3). Between the layers: dropout, layer norm, residuals.
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        *,
        late: int = 0,
        late_to_all: bool = False,
        cell: str = "gru",
        layers: int = 1,
        residual: bool = False,
        layer_norm: bool = False,
        dropout: float = 0.0,
        variational: bool = False,
    ):
        super().__init__()
        self.width = width
        self.state_width = CELLS[cell].parts * width
        self.residual = residual
        self.cells = nn.ModuleList(CELLS[cell](inputs if n == 0 else width, width) for n in range(layers))
        gates = CELLS[cell].gates * width
        receiving = (layers if late_to_all else 1) if late else 0
        self.late = nn.ModuleList(
            Linear(late, gates, bias=False, blocks=CELLS[cell].gates) for _ in range(receiving)
        )
        self.norms = nn.ModuleList(
            nn.LayerNorm(width) if layer_norm else nn.Identity() for _ in range(layers - 1)
        )
        self.between = SequenceDropout(dropout, variational=variational)

    @property
    def _layers(self) -> Sequence[RecurrentLayer]:
        return cast(Sequence[RecurrentLayer], self.cells)

    def begin(self, layers: tuple[Tensor, ...]) -> StackState:
        if not self.between.variational:
            return StackState(layers)
        masks = [self.between.mask(layer[:, : self.width]) for layer in layers[1:]]
        return StackState(layers, tuple(mask for mask in masks if mask is not None))

    def given(self, inputs: Tensor) -> Tensor:
        """The known input's share of the lowest gates: ... E -> ... G, all steps at once where they are known."""
        share: Tensor = self._layers[0].input(inputs)
        return share

    def step(self, given: Tensor, late: Tensor | None, state: StackState) -> tuple[StackState, Tensor]:
        """One step: the new state and the top output (B D)."""
        layers: list[Tensor] = []
        output = given
        for number, (layer, before) in enumerate(zip(self._layers, state.layers, strict=True)):
            below = output if number == 0 else self._rise(output, number, state)  # B G or B D
            gates = below if number == 0 else layer.input(below)  # B G
            if late is not None and number < len(self.late):
                gates = gates + self.late[number](late)
            layers.append(layer.step(gates, before))
            output = layers[-1][:, : self.width]  # B D
            output = output + below if self.residual and number > 0 else output
        return StackState(tuple(layers), state.masks), output

    def unroll(self, inputs: Tensor, state: StackState) -> Tensor:
        """All steps at once when there is no late input: B T E -> top outputs, B T D."""
        assert not self.late
        output = inputs
        for number, (layer, before) in enumerate(zip(self._layers, state.layers, strict=True)):
            below = output if number == 0 else self._rise(output, number, state)  # B T D
            output = layer.sequence(below, before)  # B T D
            output = output + below if self.residual and number > 0 else output
        return output

    def _rise(self, output: Tensor, number: int, state: StackState) -> Tensor:
        """An output on its way to the layer above."""
        normed: Tensor = self.norms[number - 1](output)
        if not state.masks:
            return self.between(normed) if not self.between.variational else normed
        mask = state.masks[number - 1]  # B D
        return normed * (mask if normed.dim() == 2 else mask[:, None])


def lowest(state: StackState, width: int) -> Tensor:
    return state.layers[0][:, :width]  # B D


def highest(state: StackState, width: int) -> Tensor:
    return state.layers[-1][:, :width]  # B D


ASKING = {"highest": highest, "lowest": lowest}  # which layer's state asks the memory
