"""Scores on a terminal."""

from pathlib import Path

import pytest

from regard.cli.console import results
from regard.cli.evaluate import print_scores
from regard.config import parse_config
from regard.core.prediction import Request
from regard.evaluation import Evaluation
from regard.metrics import Bucket, Interval, Score
from regard.search import SearchPlan

NAMES = ("caption_bleu_1", "caption_bleu_2", "caption_bleu_3", "caption_bleu_4", "caption_cider", "rouge_l")


def evaluated(lengths: list[tuple[int, int]]) -> Evaluation:
    scores = tuple(Score(name, 12.5, name, True, Interval(11.5, 13.5)) for name in NAMES)
    return Evaluation(
        path=Path("run"),
        name="run",
        config=parse_config({"task": {"name": "dates"}}, origin="a test"),
        search=SearchPlan(),
        split="test",
        scores=dict(zip(NAMES, scores, strict=True)),
        by_length=[Bucket(least, most, 1, scores) for least, most in lengths],
        by_frequency=[],
        by_direction=[],
        requests=[Request("a"), Request("b")],
        references=[["a"], ["b"]],
        predictions=[],
        rarest=[None, None],
        look=lambda some: [],
    )


@pytest.mark.parametrize("width", [60, 80, 300])
def test_metrics_that_do_not_fit_beside_each_other_stand_below(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(results, "width", width)
    with results.capture() as told:
        print_scores(evaluated([(1, 4), (5, 5)]))
    lines = told.get().splitlines()
    heads = [line for line in lines if line.startswith("test (2 sources)")]
    assert [name for line in heads for name in line.split()[3:]] == list(NAMES)
    assert all(len(line) <= width for line in heads)
    assert (len(heads) == 1) == (width == 300)
    assert sum(line.startswith("5 source pieces (1)") for line in lines) == len(heads)


def test_sources_that_are_all_as_long_are_not_told_apart() -> None:
    with results.capture() as told:
        print_scores(evaluated([(64, 64)]))
    assert "source pieces" not in told.get()
