from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.core.errors import UserError
from regard.metrics import ExactMatch, Score, by_bucket


class Count:
    """A metric that only counts what it is given."""

    name = "count"
    higher_is_better = True

    def __call__(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
        assert len(predictions) == len(references)
        return Score(self.name, float(len(predictions)), "", self.higher_is_better)


def test_quality_is_told_apart_by_length() -> None:
    lengths = [9, 1, 8, 2]
    rows = by_bucket(lengths, ["no", "a", "d", "b"], [["c"], ["a"], ["d"], ["b"]], [ExactMatch()], buckets=2)
    assert [(row.shortest, row.longest, row.count) for row in rows] == [(1, 2, 2), (8, 9, 2)]
    assert [row.scores[0].value for row in rows] == [100, 50]
    assert str(rows[1]) == "8-9 (2): exact_match 50.00"


def test_sources_of_one_length_stay_together() -> None:
    rows = by_bucket([5, 5, 5, 5, 7], list("abcde"), [["a"]] * 5, [Count()], buckets=5)
    assert [(row.shortest, row.longest, row.count) for row in rows] == [(5, 5, 4), (7, 7, 1)]


def test_one_length_gives_one_bucket() -> None:
    (row,) = by_bucket([3, 3], ["a", "b"], [["a"], ["b"]], [ExactMatch(), Count()])
    assert [score.value for score in row.scores] == [100, 2]


def test_the_buckets_are_about_equally_full() -> None:
    rows = by_bucket(range(100), ["a"] * 100, [["a"]] * 100, [], buckets=4)
    assert [(row.shortest, row.longest) for row in rows] == [(0, 24), (25, 49), (50, 74), (75, 99)]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 9))
def test_every_example_stands_in_exactly_one_bucket_and_none_is_empty(
    lengths: list[int], buckets: int
) -> None:
    examples = ["a"] * len(lengths)
    rows = by_bucket(lengths, examples, [["a"]] * len(lengths), [Count()], buckets=buckets)
    assert 1 <= len(rows) <= buckets
    assert rows[0].shortest == min(lengths)
    assert rows[-1].longest == max(lengths)
    assert all(row.longest < after.shortest for row, after in pairwise(rows))
    for row in rows:
        count = sum(row.shortest <= length <= row.longest for length in lengths)
        assert row.count == count == row.scores[0].value > 0


def test_as_many_lengths_as_predictions_are_needed() -> None:
    with pytest.raises(ValueError, match="2 predictions but lengths of 1"):
        by_bucket([1], ["a", "b"], [["a"], ["b"]], [ExactMatch()])


def test_at_least_one_bucket_is_needed() -> None:
    with pytest.raises(ValueError, match="buckets is 0"):
        by_bucket([1], ["a"], [["a"]], [ExactMatch()], buckets=0)


def test_an_empty_corpus_is_the_persons_mistake() -> None:
    with pytest.raises(UserError, match="nothing to score"):
        by_bucket([], [], [], [ExactMatch()])
