from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from regard.comparing.costs import Decoding, Learning, Point
from regard.comparing.sentences import Sentence
from regard.comparing.standings import Quality, Reached, Result, Standing
from regard.core.prediction import AttentionRecord, Prediction
from regard.metrics import Bucket, Comparison, Score
from regard.training import Spent


def answer(text: str, *, looks: bool) -> Prediction:
    pieces = ("a", "b", "</s>")
    weights = {"cross": np.full((1, 1, 3, 3), 1 / 3, dtype=np.float32)} if looks else {}
    return Prediction("ab", text, pieces[:2], -1.0, AttentionRecord(pieces, pieces, weights), True)


def standing(name: str, values: Sequence[float], *, reference: bool, reached: Reached | None) -> Standing:
    points = [Point(Spent(n, 100 * n, 30.0 * n), {"bleu": 10.0 * n, "loss": 1 / n}) for n in (1, 2)]
    record = Learning(Spent(20, 2000, 60.0), 300 * 2**20, points)
    deviation = 1.5 if len(values) > 1 else None
    found = Comparison("bleu", values[0], 30.0, 0.012, True)
    return Standing(
        name=name,
        runs=[Path(f"{name}-{seed}") for seed, _ in enumerate(values)],
        qualities={
            "ter": Quality(values, deviation, 0.4, False),
            "bleu": Quality(values, deviation, 0.4, True),
        },
        against={} if reference else {"bleu": found, "ter": found},
        learnings=[record] * len(values),
        decoding=Decoding(123.4, 5_678),
        reached=reached,
        traits={"perplexity": 12.5} if reference else {},
        pairs=100 if reference else 90,
    )


@pytest.fixture
def result() -> Result:
    scores = tuple(Score("bleu", value, "", True) for value in (31.25, 28.0))
    return Result(
        name="mine",
        metric="bleu",
        reference="<b>best</b>",
        reach=20.0,
        standings=[
            standing("<b>best</b>", [31.0, 33.0], reference=True, reached=Reached(60.0, 200.0, 1)),
            standing("other", [28.0, 29.0], reference=False, reached=None),
        ],
        by_length={name: [Bucket(1, 9, 70, scores), Bucket(10, 20, 60, scores)] for name in ("bleu", "ter")},
        sentences=[Sentence("a <i>b", ["ab"], [answer("ab", looks=True), answer("a<u>", looks=False)])],
        test_size=130,
        budget="20 steps each",
        conditions="on a CPU",
        failed={"third-1": "diverged"},
    )
