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

    Its "attention" is a table too, or else a fingerprint of what it was asked: source number, piece before
    last, last piece.
    """

    def __init__(self, tables: Tensor, looks: Tensor | None = None):
        self.tables = torch.log_softmax(tables, dim=-1)  # sources V V V
        self.looks = looks  # sources V V S
        self.rows_stepped: list[int] = []

    def begin(self, source: Tensor) -> TableState:
        return TableState(source, torch.zeros(len(source), 2, dtype=torch.long))

    def step(self, tokens: Tensor, state: TableState) -> StepOutput[TableState]:
        self.rows_stepped.append(len(tokens))
        previous = torch.stack([state.previous[:, 1], tokens], dim=1)
        asked = (state.rows, previous[:, 0], previous[:, 1])
        logits = self.tables[asked]
        looked = torch.stack(asked, dim=1).float() if self.looks is None else self.looks[asked]
        return StepOutput(logits, {"cross": looked[:, None, None]}, TableState(state.rows, previous))

    @staticmethod
    def random(sources: int, vocabulary: int, seed: int, looks: int = 0) -> "TableStepper":
        """With `looks` it looks at that many source pieces, at random."""
        generator = torch.Generator().manual_seed(seed)
        asked = (sources, vocabulary, vocabulary)
        tables = 2 * torch.randn(*asked, vocabulary, generator=generator)
        if not looks:
            return TableStepper(tables)
        return TableStepper(tables, torch.randn(*asked, looks, generator=generator).mul(2).softmax(-1))

    def every_answer(self, source: int, *, limit: int, begin: int, end: int) -> dict[tuple[int, ...], float]:
        """Brute force: all finished answers of at most `limit` pieces, with their log-probabilities."""
        found: dict[tuple[int, ...], float] = {}
        table = self.tables[source].tolist()  # V V V

        def grow(before: int, last: int, answer: tuple[int, ...], score: float) -> None:
            for piece, more in enumerate(table[before][last]):
                longer, total = (*answer, piece), score + more
                if piece == end:
                    found[longer] = total
                elif len(longer) < limit:
                    grow(last, piece, longer, total)

        grow(0, begin, (), 0.0)
        return found
