import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from regard.core.errors import UserError
from regard.core.points import write_points, write_series_source
from regard.data import Pair
from regard.tasks.scaling import MODES, Scaling, Spread

NAN = float("nan")
every = pytest.mark.parametrize("mode", MODES)


def pair(series: object, target: object, context: object = None) -> Pair:
    beside = None if context is None else np.array(context, dtype=float)
    return Pair(
        write_series_source(np.array(series, dtype=float), beside),
        write_points(np.array(target, dtype=float)),
    )


def plain(mode: str) -> Scaling:
    """One that leaves its measure as it is: rows of mean 0 and scale 1."""
    made = Scaling.learn([pair([[0, 0], [0, 0]], [[0, 0]])], mode)
    np.testing.assert_array_equal(made.rows.scale, [1, 1])
    return made


SERIES = np.array([[10.0, 1], [12, 1], [13, 3]])
TARGET = np.array([[13.0, 4], [14, 6]])


def test_absolute_rows_have_mean_zero_and_size_one() -> None:
    made = Scaling.learn([pair([[1, 0], [3, 0]], [[5, 0], [7, 0]])], "absolute")
    rows = np.concatenate(
        [made.encode(np.array([[1.0, 0], [3, 0]])), made.encode(np.array([[5.0, 0], [7, 0]]))]
    )
    assert rows.mean(axis=0) == pytest.approx([0, 0])
    assert rows.std(axis=0) == pytest.approx([1, 0])


def test_relative_rows_are_seen_from_the_last_observed_point() -> None:
    made = plain("relative")
    np.testing.assert_array_equal(made.encode(SERIES), [[-3, -2], [-1, -2], [0, 0]])
    np.testing.assert_array_equal(made.encode_target(SERIES, TARGET), [[0, 1], [1, 3]])
    np.testing.assert_array_equal(made.decode(SERIES, np.array([[0, 1], [1, 3]])), TARGET)


def test_displacements_are_summed_up_from_the_last_observed_point() -> None:
    made = plain("displacement")
    np.testing.assert_array_equal(made.encode(SERIES), [[NAN, NAN], [2, 0], [1, 2]])
    np.testing.assert_array_equal(made.encode_target(SERIES, TARGET), [[0, 1], [1, 2]])
    np.testing.assert_array_equal(made.decode(SERIES, np.array([[0, 1], [1, 2]])), TARGET)


def test_a_displacement_after_a_gap_is_the_mean_step_since_then() -> None:
    made = plain("displacement")
    series = np.array([[0.0, 5], [NAN, 6], [4, NAN], [NAN, NAN]])
    np.testing.assert_array_equal(made.encode(series), [[NAN, NAN], [NAN, 1], [2, NAN], [NAN, NAN]])
    target = np.array([[8.0, NAN], [NAN, 14]])
    rows = made.encode_target(series, target)
    np.testing.assert_array_equal(rows, [[2, NAN], [NAN, 2]])  # 4 in two steps; 8 in four
    np.testing.assert_array_equal(made.decode(series, rows), target)


def test_an_answer_after_a_gap_begins_with_the_steps_that_were_not_seen() -> None:
    made = plain("displacement")
    series = np.array([[0.0, 0], [NAN, 1]])
    np.testing.assert_array_equal(made.decode(series, np.array([[1.0, 1], [1, 1]])), [[2, 2], [3, 3]])


@pytest.mark.parametrize("mode", ["relative", "displacement"])
def test_a_value_the_series_knows_nothing_of_starts_from_the_training_mean(mode: str) -> None:
    made = Scaling.learn([pair([[1, 6], [3, 8]], [[4, 9]])], mode)
    series, target = np.array([[1.0, NAN], [2, NAN]]), np.array([[3.0, 9.0]])
    np.testing.assert_allclose(made.decode(series, made.encode_target(series, target)), target)
    still = made.rows.to_rows(np.zeros((1, 2)))
    np.testing.assert_allclose(made.decode(series, still), [[2, 7]])


def numbers(rows: int, *, holes: bool = True) -> st.SearchStrategy[np.ndarray]:
    known = st.floats(-1000, 1000)
    return arrays(np.float64, (rows, 2), elements=st.one_of(st.just(NAN), known) if holes else known)


@every
@given(series=numbers(5), target=numbers(4))
def test_what_was_encoded_comes_back(mode: str, series: np.ndarray, target: np.ndarray) -> None:
    made = Scaling.learn([pair(SERIES, TARGET), pair(TARGET, SERIES)], mode)
    rows = made.encode_target(series, target)
    np.testing.assert_array_equal(np.isnan(rows), np.isnan(target))
    np.testing.assert_allclose(made.decode(series, rows), target, rtol=1e-9, atol=1e-6)
    own = made.encode(series)
    assert own.shape == series.shape
    assert np.isnan(own[np.isnan(series)]).all()


@every
@given(series=numbers(6, holes=False), shift=st.floats(-1e5, 1e5))
def test_where_it_all_happens_matters_to_absolute_points_alone(
    mode: str, series: np.ndarray, shift: float
) -> None:
    made = Scaling.learn([pair(SERIES, TARGET)], mode)
    same = np.allclose(made.encode(series), made.encode(series + shift), equal_nan=True, atol=1e-6)
    assert same is (mode != "absolute") or abs(shift) < 1e-3


@every
def test_mean_and_scale_are_those_of_all_rows_together(mode: str) -> None:
    random = np.random.default_rng(1)
    every_ = [(random.normal(5e6, 1, (7, 2)), random.normal(5e6, 3, (4, 2))) for _ in range(50)]
    every_[3][0][2, 1] = NAN
    made = Scaling.learn([pair(*both) for both in every_], mode)
    rows = np.concatenate([np.concatenate([made.encode(s), made.encode_target(s, t)]) for s, t in every_])
    assert np.nanmean(rows, axis=0) == pytest.approx([0, 0], abs=1e-2)  # written with nine digits
    assert np.nanstd(rows, axis=0) == pytest.approx([1, 1], abs=1e-2)


def test_a_context_is_scaled_by_itself() -> None:
    made = Scaling.learn([pair([[0]], [[0]], [[1, 10], [3, NAN]])], "absolute")
    np.testing.assert_array_equal(made.encode_context(np.array([[1.0, 10], [NAN, 12]])), [[-1, 0], [NAN, 2]])
    assert (made.size, made.context_size) == (1, 2)


def test_a_context_is_given_where_it_is_wanted_and_nowhere_else() -> None:
    without, with_one = plain("absolute"), Scaling.learn([pair([[0]], [[0]], [[1]])], "absolute")
    assert without.encode_context(None) is None
    with pytest.raises(UserError, match="trained without one"):
        without.encode_context(np.ones((1, 1)))
    with pytest.raises(UserError, match="trained with one"):
        with_one.encode_context(None)
    with pytest.raises(UserError, match="The context has 2 values here, but 1"):
        with_one.encode_context(np.ones((1, 2)))


def test_points_of_another_size_are_told() -> None:
    with pytest.raises(UserError, match="A point has 3 values here, but 2 in what was trained with"):
        plain("relative").encode(np.ones((2, 3)))


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([], "no training pairs"),
        ([pair([[1]], [[1]]), pair([[1, 2]], [[1, 2]])], "Training pair 2: A point has 2 values here, but 1"),
        ([pair([[1]], [[1]]), Pair("[[1]]", "nothing")], "Training pair 2: This is no series"),
        ([pair([[1]], [[1]]), pair([[1]], [[1]], [[1]])], "Training pair 2: Some sources have a context"),
        ([pair([[1]], [[1]], [[1]]), pair([[1]], [[1]])], "Training pair 2: Some sources have a context"),
    ],
)
def test_pairs_that_nothing_can_be_learned_from_are_told(pairs: list[Pair], words: str) -> None:
    with pytest.raises(UserError, match=words):
        Scaling.learn(pairs, "absolute")


def test_an_unknown_mode_is_told() -> None:
    with pytest.raises(UserError, match="Did you mean 'relative'"):
        Scaling.learn([], "relativ")


@every
@pytest.mark.parametrize("context", [None, [[1, 2], [3, 5]]])
def test_a_scaling_that_was_saved_is_loaded_again(mode: str, context: object, tmp_path: Path) -> None:
    made = Scaling.learn([pair(SERIES / 3, TARGET / 7, context)], mode)
    made.save(tmp_path / "s.json")
    loaded = Scaling.load(tmp_path / "s.json")
    assert loaded.to_json() == made.to_json()
    np.testing.assert_array_equal(loaded.encode(SERIES), made.encode(SERIES))
    assert (loaded.context is None) == (context is None)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"mode": "sideways"},
        {"rows": None},
        {"rows": {"mean": [0], "scale": [1]}},
        {"points": {"mean": [0, 0], "scale": [1, 0]}},
        {"points": {"mean": [0, 0], "scale": [1]}},
        {"points": {"mean": ["a", 0], "scale": [1, 1]}},
        {"points": {"mean": [None, 0], "scale": [1, 1]}},
        {"points": 3},
    ],
)
def test_a_damaged_file_is_told(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(json.loads(plain("absolute").to_json()) | change))
    with pytest.raises(UserError, match="no scaling of series, or it is damaged"):
        Scaling.load(path)


def test_a_missing_or_broken_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        Scaling.load(tmp_path / "s.json")
    (tmp_path / "s.json").write_text("[")
    with pytest.raises(UserError, match="damaged"):
        Scaling.load(tmp_path / "s.json")


@pytest.mark.parametrize("size", [1e-7, 0.03, 0.999, 1.0, 40.0, 1e6])
def test_an_answer_has_no_digits_but_those_that_mean_something(size: float) -> None:
    spread = Spread(np.zeros(2), np.array([size, 10 * size]))
    scaling = Scaling("absolute", spread, spread)
    points = np.array([[0.123456789, 3.14159265], [-1.6180339, 27.1828182]]) * size
    told = scaling.rounded(points)
    assert (np.abs(told - points) < np.array([1e-4, 1e-3]) * size).all()
    noise = np.array([[1, -1], [-1, 1]]) * 1e-7 * size
    assert write_points(scaling.rounded(points + noise)) == write_points(told)
    assert write_points(points + noise) != write_points(points)
