"""The recurrent decoder."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention import Attention, Keys
from regard.core.memory import Memory
from regard.core.state import StepOutput, Unrolled
from regard.decoders.bridges import Projection
from regard.layers import CELLS, Embedding, Maxout


@dataclass(frozen=True)
class RecurrentState:
    layers: tuple[Tensor, ...]  # L times B (P D), each in its cell's own form
    keys: Keys
    step: Tensor  # B, how many steps were taken

    def select(self, rows: Tensor) -> "RecurrentState":
        layers = tuple(layer[rows] for layer in self.layers)
        return RecurrentState(layers, self.keys.select(rows), self.step[rows])


class RecurrentDecoder(nn.Module):
    """Looks at the memory, then takes the step (Bahdanau et al. 2015, section 3.1).

        c_i = attention(s_{i-1}, memory)
        s_i = f(s_{i-1}, y_{i-1}, c_i)
        y_i = g(y_{i-1}, s_i, c_i)

    In a stack the lowest layer reads the context and the highest one asks and answers.
    """

    def __init__(
        self,
        embedding: Embedding,
        look: Attention,
        *,
        memory_width: int,
        cell: str = "gru",
        width: int = 256,
        layers: int = 1,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = embedding
        self.look = look
        self.width = width
        self.cells = nn.ModuleList(CELLS[cell](width) for _ in range(layers))
        gates, parts = CELLS[cell].gates * width, CELLS[cell].parts
        self.bridge = Projection(memory_width, parts * width, layers=layers)
        self.from_piece = nn.Linear(embedding.width, gates, bias=False)
        self.from_context = nn.Linear(memory_width, gates)
        self.from_below = nn.ModuleList(nn.Linear(width, gates) for _ in range(layers - 1))
        self.between = nn.Dropout(dropout)
        self.readout = Maxout(embedding.width + width + memory_width, width, dropout=dropout)
        self.head = nn.Linear(width, embedding.vocabulary)

    def begin(self, memory: Memory) -> RecurrentState:
        keys = self.look.prepare(memory.annotations, memory.mask)
        start = torch.zeros(len(memory.mask), dtype=torch.long, device=memory.mask.device)
        return RecurrentState(self.bridge(memory), keys, start)

    def step(self, tokens: Tensor, state: RecurrentState) -> StepOutput[RecurrentState]:
        vectors = self.embedding(tokens)  # B E
        state, context, weights = self._advance(self.from_piece(vectors), state)
        features = self.readout(vectors, self._top(state), context)  # B D
        return StepOutput(self.head(features), {"cross": weights[:, None]}, state)

    def unroll(self, memory: Memory, target: Tensor) -> Unrolled:
        vectors = self.embedding(target)  # B T E
        state = self.begin(memory)
        states, contexts, looks = [], [], []
        for given in self.from_piece(vectors).unbind(1):
            state, context, weights = self._advance(given, state)
            states.append(self._top(state))
            contexts.append(context)
            looks.append(weights)
        features = self.readout(vectors, torch.stack(states, dim=1), torch.stack(contexts, dim=1))  # B T D
        return Unrolled(features, {"cross": torch.stack(looks, dim=2)[:, None]})  # B 1 H T S

    def _advance(self, given: Tensor, state: RecurrentState) -> tuple[RecurrentState, Tensor, Tensor]:
        """One step from the piece's share of the gates (B G): the new state, the context, the weights."""
        query = self._top(state)[:, None]  # B 1 D
        attended = self.look(query, state.keys, state.step[:, None])
        context = attended.context[:, 0]  # B C
        given = given + self.from_context(context)  # B G
        layers = [self.cells[0](given, state.layers[0])]
        for cell, below, layer in zip(self.cells[1:], self.from_below, state.layers[1:], strict=True):
            beneath = self.between(layers[-1][:, : self.width])  # B D
            layers.append(cell(below(beneath), layer))
        return RecurrentState(tuple(layers), state.keys, state.step + 1), context, attended.weights[:, :, 0]

    def _top(self, state: RecurrentState) -> Tensor:
        return state.layers[-1][:, : self.width]  # B D
