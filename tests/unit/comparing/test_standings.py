from pathlib import Path
from statistics import stdev

import pytest
import torch

from regard.comparing.conditions import Conditions, budget, conditions, note_conditions
from regard.comparing.sentences import choose
from regard.comparing.standings import _pooled, _quality, _reference, _Scored
from regard.config import load_config
from regard.core.prediction import AttentionRecord, Prediction
from regard.metrics import METRICS, Tally, compare

REFERENCES = [["a"], ["b"], ["c"], ["d"]]


def tally(answers: str, metric: str = "exact_match") -> Tally:
    return METRICS[metric]().tally(list(answers), REFERENCES)


def test_the_quality_of_a_model_is_the_mean_over_its_seeds_with_their_deviation() -> None:
    found = _quality([tally("abcd"), tally("abxx"), tally("abcx")])
    assert found.values == [100, 50, 75]
    assert found.mean == 75
    assert found.deviation == stdev([100, 50, 75]) == found.spread


def test_with_one_seed_the_spread_is_the_interval_over_sentences() -> None:
    found = _quality([tally("abxx")])
    assert found.deviation is None
    assert found.spread == found.half > 0


def test_pooled_answers_of_a_sentence_count_together() -> None:
    both = _pooled([tally("abcd"), tally("xbxx")])
    assert len(both.counts) == len(REFERENCES)
    assert both.score().value == pytest.approx(100 * 5 / 8)


def test_a_model_with_more_seeds_is_compared_by_all_of_them() -> None:
    """Its mean is 37.5, though its first seed alone is better than the other model."""
    ours, theirs = _pooled([tally("abcx"), tally("xxxx")]), _pooled([tally("abxx")])
    assert compare(ours, theirs).difference == pytest.approx(37.5 - 50)


def scored(metric: str, *seeds: str) -> _Scored:
    return _Scored([], [], [{metric: tally(answers, metric)} for answers in seeds])


@pytest.mark.parametrize("metric", ["exact_match", "character_error_rate"])
def test_the_best_has_the_best_mean(metric: str) -> None:
    models = {
        "half": scored(metric, "abxx"),
        "all": scored(metric, "abcd", "abcx"),
        "one": scored(metric, "abcd", "xxxx", "xxxx"),
    }
    assert _reference("best", models, metric) == "all"
    assert _reference("first", models, metric) == "half"
    assert _reference("one", models, metric) == "one"
    assert _reference("failed", models, metric) == "all"


def test_how_runs_were_trained_is_what_they_noted(tmp_path: Path) -> None:
    runs = [tmp_path / "a", tmp_path / "b"]
    for run in runs:
        run.mkdir()
    cpu = [torch.device("cpu")]
    assert conditions(cpu, 2, runs) == "on a CPU, decoding with 2 threads; some runs were trained before"
    for run in runs:
        note_conditions(run, Conditions(threads=1, processes=2))
        note_conditions(run, Conditions(threads=1, processes=2))
    said = "1 thread for each run, 2 runs beside each other"
    assert conditions(cpu, 1, runs) == f"on a CPU, {said}; decoding alone"
    note_conditions(runs[1], Conditions(threads=2, processes=1))
    other = "2 threads for each run, one run at a time"
    assert conditions(cpu, 2, runs) == f"on a CPU, unequal: {said}; {other}; decoding alone, with 2 threads"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([["training.steps=2000"]] * 2, "2,000 steps each"),
        ([["training.steps=10", "training.tokens=50"]], "10 steps or 50 target pieces each"),
        ([["training.steps=1000000000000", "training.minutes=2.5"]], "2.5 minutes of training steps each"),
        ([["training.steps=1"], ["training.steps=2"]], "unequal: 1 steps, 2 steps"),
        (
            [["training.steps=10", "training.patience=3"]],
            "10 steps each (less where 3 validations bring nothing better)",
        ),
    ],
)
def test_the_budget_is_stated_and_said_to_be_unequal_where_it_is(changes: list[list[str]], said: str) -> None:
    assert budget([load_config("dates", some) for some in changes]) == said


def answers(*texts: str) -> list[Prediction]:
    return [Prediction("", text, (), 0.0, AttentionRecord((), (), {}), True) for text in texts]


def test_a_sentence_of_each_band_is_shown_the_one_with_most_different_answers() -> None:
    lengths = [5, 30, 10, 11, 6, 31, 500]  # the last is too long to be shown
    first = answers("a", "a", "a", "a", "a", "a", "a")
    second = answers("a", "a", "a", "b", "b", "b", "b")
    assert choose(lengths, [first, second]) == [4, 3, 5]
