import math

import pytest

from regard.core.errors import UserError
from regard.metrics import METRICS

RIGHT = "[[0, 0], [3, 0], [6, 0]]"


def value(name: str, prediction: str, *answers: str) -> float:
    return METRICS[name]()([prediction], [answers]).value


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ade", (0 + 5 + 2) / 3), ("fde", 2), ("mse", (9 + 16 + 4) / 6), ("mae", (3 + 4 + 2) / 6)],
)
def test_errors_are_what_they_are_by_hand(name: str, expected: float) -> None:
    """Off by nothing, by a step of 3 and 4, and by 2."""
    assert value(name, "[[0, 0], [0, 4], [6, -2]]", RIGHT) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["ade", "fde", "mse", "mae"])
def test_of_several_futures_the_first_is_the_answer(name: str) -> None:
    right, wrong = RIGHT, "[[9, 9], [9, 9], [9, 9]]"
    assert value(name, f"{right}\n{wrong}", RIGHT) == 0
    assert value(name, f"{wrong}\n{right}", RIGHT) == value(name, wrong, RIGHT) > 0


def test_the_best_of_several_futures_is_chosen_for_each_measure_by_itself() -> None:
    near, ends_well = "[[0, 0], [3, 1], [6, 2]]", "[[0, 9], [3, 9], [6, 1]]"
    futures = f"{ends_well}\n{near}"
    assert value("min_ade", futures, RIGHT) == 1
    assert value("min_fde", futures, RIGHT) == 1
    assert value("ade", futures, RIGHT) == pytest.approx(19 / 3)


def test_the_signature_tells_how_many_futures_there_were() -> None:
    metric = METRICS["min_ade"]()
    assert metric([f"{RIGHT}\n{RIGHT}"], [[RIGHT]]).signature.startswith("futures:2|nrefs:1|")
    assert metric([f"{RIGHT}\n{RIGHT}", RIGHT], [[RIGHT]] * 2).signature.startswith("futures:var|")
    assert "futures" not in METRICS["ade"]()([RIGHT], [[RIGHT]]).signature


def test_what_is_missing_in_the_truth_does_not_count() -> None:
    right = "[[0, 0], [null, 0], [6, 0], [null, null]]"
    predicted = "[[0, 1], [50, 3], [6, 2], [70, 70]]"
    assert value("ade", predicted, right) == 1.5
    assert value("fde", predicted, right) == 2
    assert value("mae", predicted, right) == (0 + 1 + 3 + 0 + 2) / 5
    assert value("mse", predicted, right) == (0 + 1 + 9 + 0 + 4) / 5


def test_who_says_no_more_stays_where_they_were() -> None:
    assert value("ade", "[[0, 0], [3, null]]", RIGHT) == 1
    assert value("fde", "[[0, 0], [3, null]]", RIGHT) == 3


def test_who_says_nothing_stands_at_the_origin() -> None:
    assert value("ade", "", "[[3, 4], [6, 8]]") == 7.5
    assert value("min_fde", "\n", "[[3, 4], [6, 8]]") == 10


def test_points_beyond_the_end_are_not_looked_at() -> None:
    assert value("fde", "[[0, 0], [3, 0], [6, 0], [99, 99]]", RIGHT) == 0


def test_long_answers_weigh_more_than_short_ones() -> None:
    """One error of 6 in four points."""
    assert METRICS["ade"]()(["[[0]]", "[[0], [0], [6]]"], [["[[0]]"], ["[[0], [0], [0]]"]]).value == 1.5


def test_an_answer_of_which_nothing_is_known_is_never_the_nearest() -> None:
    assert value("ade", "[[5]]", "[[null]]", "[[3]]") == 2
    assert value("ade", "[[5]]", "[[null]]") == 0


@pytest.mark.parametrize(
    ("prediction", "answer", "words"),
    [
        ("hello", RIGHT, "Prediction 1 is no series of points"),
        (RIGHT, "hello", "The right answer to prediction 1 is no series of points"),
        ("[[1]]", RIGHT, "Points of prediction 1 have another number of values"),
        ("[[1, NaN]]", RIGHT, "NaN is no number"),
    ],
)
def test_what_is_no_series_is_told(prediction: str, answer: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        value("ade", prediction, answer)


def test_points_that_are_far_away_have_a_finite_error() -> None:
    assert math.isfinite(value("mse", "[[1e15]]", "[[-1e15]]"))
