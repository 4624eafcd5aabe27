from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.metrics import ExactMatch, Tally, by_frequency, by_length


def counted(examples: int) -> Tally:
    """A metric that only counts what it is given."""
    return Tally("count", "", True, np.ones((examples, 1)), lambda sums: sums[0])


def test_quality_is_told_apart_by_length() -> None:
    tally = ExactMatch().tally(["no", "a", "d", "b"], [["c"], ["a"], ["d"], ["b"]])
    rows = by_length([9, 1, 8, 2], [tally], buckets=2)
    assert [(row.least, row.most, row.count) for row in rows] == [(1, 2, 2), (8, 9, 2)]
    assert [row.scores[0].value for row in rows] == [100, 50]
    assert str(rows[1]) == "8-9 (2): exact_match 50.00"


def test_sources_of_one_length_stay_together() -> None:
    rows = by_length([5, 5, 5, 5, 7], [counted(5)], buckets=5)
    assert [(row.least, row.most, row.count) for row in rows] == [(5, 5, 4), (7, 7, 1)]


def test_one_length_gives_one_bucket() -> None:
    (row,) = by_length([3, 3], [ExactMatch().tally(["a", "b"], [["a"], ["b"]]), counted(2)])
    assert [score.value for score in row.scores] == [100, 2]


def test_the_buckets_are_about_equally_full() -> None:
    rows = by_length(range(100), [], buckets=4)
    assert [(row.least, row.most) for row in rows] == [(0, 24), (25, 49), (50, 74), (75, 99)]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 9))
def test_every_example_stands_in_exactly_one_bucket_and_none_is_empty(
    lengths: list[int], buckets: int
) -> None:
    rows = by_length(lengths, [counted(len(lengths))], buckets=buckets)
    assert 1 <= len(rows) <= buckets
    assert rows[0].least == min(lengths)
    assert rows[-1].most == max(lengths)
    assert all(row.most < after.least for row, after in pairwise(rows))
    for row in rows:
        count = sum(row.least <= length <= row.most for length in lengths)
        assert row.count == count == row.scores[0].value > 0


def test_sources_are_told_apart_by_how_often_their_rarest_word_was_seen() -> None:
    right = ExactMatch().tally(list("abcdefghi"), [[one] for one in "aBcdeFGhi"])
    rows = by_frequency([0, 0, 1, 9, 10, 99, 1000, 10**9, None], [right])
    assert [(row.least, row.most, row.count) for row in rows] == [
        (0, 0, 2),
        (1, 9, 2),
        (10, 99, 2),
        (1000, None, 2),
    ]
    assert [row.scores[0].value for row in rows] == [50, 100, 50, 50]
    assert str(rows[-1]) == "1000- (2): exact_match 50.00"


@pytest.mark.parametrize(("make", "what"), [(by_length, "lengths"), (by_frequency, "frequencies")])
def test_as_many_measures_as_predictions_are_needed(make: type, what: str) -> None:
    with pytest.raises(ValueError, match=f"2 predictions but {what} of 1 sources"):
        make([1], [counted(2)])


def test_at_least_one_bucket_is_needed() -> None:
    with pytest.raises(ValueError, match="buckets is 0"):
        by_length([1], [counted(1)], buckets=0)
