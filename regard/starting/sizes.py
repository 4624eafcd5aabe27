"""Which model goes with how many pairs, and how it is trained."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    pairs: int  # up to so many
    why: str
    dropout: float
    passes: int  # through all training pairs
    batch_tokens: int
    learning_rate: float
    preset: str | None = None
    layers: int | None = None  # where not as the preset says
    width: int | None = None  # of a model without a preset
    vocabulary: int | None = None  # where pieces are learned
    step_tokens: int | None = None


_FEW = "the smallest preset with half of its layers; more would learn so few by heart"

SENTENCES = (
    Size(
        pairs=5_000,
        why=_FEW,
        preset="transformer_tiny",
        layers=2,
        dropout=0.3,
        vocabulary=1_000,
        passes=100,
        batch_tokens=1024,
        learning_rate=2e-3,
    ),
    Size(
        pairs=20_000,
        why=_FEW,
        preset="transformer_tiny",
        layers=2,
        dropout=0.3,
        vocabulary=4_000,
        passes=60,
        batch_tokens=2048,
        learning_rate=2e-3,
    ),
    Size(
        pairs=100_000,
        why="the sizes that Wu et al. 2021 took for Multi30k, which has 29,000 pairs",
        preset="transformer_tiny",
        dropout=0.3,
        vocabulary=8_000,
        passes=35,
        batch_tokens=4096,
        learning_rate=4e-3,
    ),
    Size(
        pairs=1_000_000,
        why="between the tiny model for ten thousands and the base model for millions",
        preset="transformer_small",
        dropout=0.2,
        vocabulary=16_000,
        passes=20,
        batch_tokens=8192,
        learning_rate=1e-3,
    ),
    Size(
        pairs=10**9,
        why="the model of Vaswani et al. 2017, who had 4.5 million pairs; meant for a GPU",
        preset="transformer_base",
        dropout=0.1,
        vocabulary=32_000,
        passes=10,
        batch_tokens=8192,
        step_tokens=25_000,
        learning_rate=7e-4,
    ),
)

# Short answers such as dates, names and pronunciations are spelt, not said in words.
SPELT = (
    Size(
        pairs=20_000,
        why="as wide as in the recipe for dates",
        width=128,
        dropout=0.2,
        passes=20,
        batch_tokens=2048,
        learning_rate=5e-3,
    ),
    Size(
        pairs=100_000,
        why="as wide as in the recipe for dates, which has 60,000",
        width=128,
        dropout=0.1,
        passes=20,
        batch_tokens=2048,
        learning_rate=5e-3,
    ),
    Size(
        pairs=10**9,
        why="twice as wide as in the recipe for dates, which has 60,000",
        width=256,
        dropout=0.1,
        passes=10,
        batch_tokens=4096,
        learning_rate=2e-3,
    ),
)


def size_for(pairs: int, sizes: Sequence[Size]) -> Size:
    return next(size for size in sizes if pairs <= size.pairs)
