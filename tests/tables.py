"""A stepper that is a table of numbers: search is tested on it, with no network near."""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.core.state import StepOutput


@dataclass(frozen=True)
class TableState:
    rows: Tensor  # which source each row belongs to
    previous: Tensor  # B 2, the last two pieces

    def select(self, rows: Tensor) -> "TableState":
        return TableState(self.rows[rows], self.previous[rows])


class TableStepper:
    """Log-probabilities of the next piece given the source and the last two pieces.

    Its "attention" is a fingerprint of what it was asked: source number, piece before last, last piece.
    """

    def __init__(self, tables: Tensor):
        self.tables = torch.log_softmax(tables, dim=-1)  # sources V V V
        self.rows_stepped: list[int] = []

    def begin(self, source: Tensor) -> TableState:
        return TableState(source, torch.zeros(len(source), 2, dtype=torch.long))

    def step(self, tokens: Tensor, state: TableState) -> StepOutput[TableState]:
        self.rows_stepped.append(len(tokens))
        previous = torch.stack([state.previous[:, 1], tokens], dim=1)
        logits = self.tables[state.rows, previous[:, 0], previous[:, 1]]
        looked = torch.stack([state.rows, previous[:, 0], previous[:, 1]], dim=1).float()
        return StepOutput(logits, {"cross": looked[:, None, None]}, TableState(state.rows, previous))

    @staticmethod
    def random(sources: int, vocabulary: int, seed: int) -> "TableStepper":
        generator = torch.Generator().manual_seed(seed)
        return TableStepper(2 * torch.randn(sources, vocabulary, vocabulary, vocabulary, generator=generator))

    def every_answer(self, source: int, *, limit: int, begin: int, end: int) -> dict[tuple[int, ...], float]:
        """Brute force: all finished answers of at most `limit` pieces, with their log-probabilities."""
        found: dict[tuple[int, ...], float] = {}

        def grow(before: int, last: int, answer: tuple[int, ...], score: float) -> None:
            for piece in range(self.tables.shape[-1]):
                longer, total = (*answer, piece), score + float(self.tables[source, before, last, piece])
                if piece == end:
                    found[longer] = total
                elif len(longer) < limit:
                    grow(last, piece, longer, total)

        grow(0, begin, (), 0.0)
        return found
