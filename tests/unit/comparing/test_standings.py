from statistics import stdev

import numpy as np
import pytest

from regard.comparing.conditions import budget
from regard.comparing.sentences import choose
from regard.comparing.standings import _pooled, _quality, _reference, paired
from regard.config import load_config
from regard.core.errors import UserError
from regard.core.prediction import AttentionRecord, Prediction
from regard.metrics import METRICS, Tally

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


def test_models_are_paired_over_as_many_seeds_as_both_have() -> None:
    ours, theirs = [{"exact_match": tally("abcd")}] * 3, [{"exact_match": tally("abxx")}] * 2
    first, second = paired(ours, theirs, "exact_match")
    assert np.array_equal(first.counts, 2 * ours[0]["exact_match"].counts)
    assert np.array_equal(second.counts, 2 * theirs[0]["exact_match"].counts)


def test_the_best_is_the_highest_or_for_errors_the_lowest() -> None:
    for metric in ("exact_match", "character_error_rate"):
        pooled = {"half": tally("abxx", metric), "all": tally("abcd", metric), "none": tally("xxxx", metric)}
        assert _reference("best", pooled) == "all"
        assert _reference("first", pooled) == "half"
        assert _reference("none", pooled) == "none"
        with pytest.raises(UserError, match=r"there is no such model. Did you mean 'half'"):
            _reference("hal", pooled)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([["training.steps=2000"]] * 2, "2,000 steps each"),
        ([["training.steps=10", "training.tokens=50"]], "10 steps or 50 target pieces each"),
        ([["training.steps=1000000000000", "training.minutes=2.5"]], "2.5 minutes of training steps each"),
        ([["training.steps=1"], ["training.steps=2"]], "unequal: 1 steps, 2 steps"),
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
