"""What is measured, and what a system's file has to offer. Standard library alone: every environment imports this.

A file in `systems/` has

    TITLE         its name in tables
    ENVIRONMENT   the name of its requirements
    TRAINS        the shapes that it can train; LACKS says why it has none of the others
    DECODERS      ways in which it answers, by name; none where it has none
    start()       imports what it needs: what a process pays once
    trainer(shape)        -> step(batch) -> mean loss of a target token; Timed where a step can't be had alone
    decoder(shape, way)   -> decode(sources, batch, beam, steps) -> pieces of each answer, their number
    close()       optional, of what a decoder had to start

Batches hold ids without marks. The first four ids are for marks, whichever a system needs.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

MARKS = 4
VOCABULARY = 10_000
LONGEST = 320  # positions that a model has to know


@dataclass(frozen=True)
class Shape:
    """A model's sizes, and how it is trained."""

    name: str
    layers: int  # of the encoder, and of the decoder
    width: int
    inner: int = 0  # of a Transformer's feed-forward layers
    heads: int = 1
    score: str = "scaled_dot"
    feeding: bool = False  # the last features are part of the next input
    dropout: float = 0.1  # on embeddings and on what each part adds (Vaswani et al. 2017, section 5.4)
    smoothing: float = 0.1
    learning_rate: float = 5e-4
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0

    @property
    def recurrent(self) -> bool:
        return self.inner == 0


TRANSFORMERS = (
    Shape("tiny", layers=4, width=128, inner=256, heads=4),
    Shape("small", layers=3, width=256, inner=1024, heads=4),
    Shape("base", layers=6, width=512, inner=2048, heads=8),
)
RECURRENT = (
    Shape("general", layers=2, width=512, score="general"),
    Shape("general-fed", layers=2, width=512, score="general", feeding=True),
    Shape("additive-fed", layers=2, width=512, score="additive", feeding=True),
)
SHAPES = {shape.name: shape for shape in (*TRANSFORMERS, *RECURRENT)}
TRANSFORMER_NAMES = tuple(shape.name for shape in TRANSFORMERS)
EMBEDDING = 256  # of recurrent models; a Transformer's is its width


@dataclass(frozen=True)
class Batch:
    sources: Sequence[Sequence[int]]
    targets: Sequence[Sequence[int]]

    @property
    def tokens(self) -> int:
        """Target pieces and their end marks; padding never counts."""
        return sum(len(row) + 1 for row in self.targets)


class Timed(NamedTuple):
    """A loss, and how long the system itself says that a step took."""

    loss: float
    seconds: float


Step = Callable[[Batch], float | Timed]
Decode = Callable[[Sequence[Sequence[int]], int, int, int], list[int]]


def padded(
    rows: Sequence[Sequence[int]], pad: int, *, first: int | None = None, last: int | None = None
) -> list[list[int]]:
    """Rows with the marks that a system wants, all as long as the longest."""
    whole = [[*([] if first is None else [first]), *row, *([] if last is None else [last])] for row in rows]
    longest = max(map(len, whole))
    return [row + [pad] * (longest - len(row)) for row in whole]


def chunks(rows: Sequence[Sequence[int]], size: int) -> list[Sequence[Sequence[int]]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def read(path: Path) -> tuple[list[Batch], list[list[int]]]:
    """What was prepared: batches to train on, and sources to answer."""
    told = json.loads(path.read_text())
    return [Batch(sources, targets) for sources, targets in told["batches"]], told["sources"]
