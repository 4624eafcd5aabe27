import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from regard.core.errors import UserError
from regard.core.points import LARGEST, read_points, read_series_source, write_points, write_series_source

NAN = float("nan")


def test_points_are_read_with_null_for_what_is_missing() -> None:
    found = read_points("[[1, 2.5], [null, -3e2]]")
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [[1, 2.5], [NAN, -300]])


def test_a_source_is_its_points_or_says_what_is_beside_them() -> None:
    plain = read_series_source("[[1], [2]]")
    assert plain.context is None and plain.target is None  # noqa: PT018
    series, context, target = read_series_source(
        '{"series": [[1, 2]], "context": [[0, 0, 1], [1, null, 0]], "target": [[3, 4]]}'
    )
    np.testing.assert_array_equal(series, [[1, 2]])
    np.testing.assert_array_equal(context, [[0, 0, 1], [1, NAN, 0]])
    np.testing.assert_array_equal(target, [[3, 4]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no series in JSON"),
        ("[[1, 2]", "no series in JSON"),
        ("[[NaN]]", "NaN is no number"),
        ("[[1, -Infinity]]", "-Infinity is no number"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "no points"),
        ("[[], []]", "Point 1 of the text has no values"),
        ("[[1, 2], [3]]", "Point 2 of the text has 1 values but the first has 2"),
        ("[1, 2]", "Point 1 of the text is 1.0, not a list"),
        ("3", "list of points, but the text is 3.0"),
        ('"[[1]]"', "list of points"),
        ("[[true]]", "has true where a number belongs"),
        ('[["1"]]', 'has "1" where a number belongs'),
        ("[[[1]]]", "where a number belongs"),
        ("[[{}]]", "where a number belongs"),
        ("[[1], [1e300]]", "Point 2 of the text has a number beyond"),
        ("[[1e400]]", "a number beyond"),
        (f"[[{'9' * 5000}]]", "a number beyond"),
        ("[[null], [null]]", "no known value"),
        ("{}", 'no "series"'),
        ('{"serie": [[1]]}', "no part 'serie'. Did you mean 'series'"),
        ('{"series": [[1]], "series": [[2]]}', "appears twice"),
        ('{"series": null}', '"series" is null'),
        ('{"series": [[1]], "context": []}', '"context" has no points'),
        ('{"series": [[1]], "context": [[1], [2, 3]]}', 'Point 2 of "context" has 2 values'),
        (
            '{"series": [[1]], "target": [[1, 2]]}',
            'A point of "target" has 2 values but one of the series has 1',
        ),
    ],
)
def test_what_is_no_source_is_said_in_one_sentence(text: str, words: str) -> None:
    with pytest.raises(UserError) as error:
        read_series_source(text)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 250


def test_numbers_are_written_short() -> None:
    points = np.array([[1.0, -0.0], [0.1, 1 / 3], [NAN, 1e-7]])
    assert write_points(points) == "[[1, 0], [0.1, 0.333333333], [null, 1e-07]]"


def test_small_steps_between_large_numbers_are_not_lost() -> None:
    far = np.array([[5123456.789, 5123457.013], [1234567891.0, 1234567892.0]])
    np.testing.assert_array_equal(read_points(write_points(far)), far)


def test_what_json_or_a_reader_cannot_take_is_written_as_missing() -> None:
    text = write_points(np.array([[np.inf, -np.inf, 2 * LARGEST, LARGEST]]))
    assert json.loads(text) == [[None, None, None, LARGEST]]
    np.testing.assert_array_equal(read_points(text), [[NAN, NAN, NAN, LARGEST]])


@given(
    arrays(
        np.float32,
        array_shapes(min_dims=2, max_dims=2, max_side=4),
        elements=st.one_of(st.just(NAN), st.floats(-1e9, 1e9, width=32)),
    )
)
def test_numbers_of_single_precision_come_back_exactly(points: np.ndarray) -> None:
    text = write_points(points.astype(np.float64))
    assert "\n" not in text
    np.testing.assert_array_equal(read_points(text).astype(np.float32), points)


@pytest.mark.parametrize("context", [None, np.array([[1.0, NAN]])])
@pytest.mark.parametrize("target", [None, np.array([[5.0], [6.0]])])
def test_a_source_that_was_written_is_read_again(
    context: np.ndarray | None, target: np.ndarray | None
) -> None:
    series = np.array([[1.0], [NAN], [2.0]])
    for found, given_ in zip(
        read_series_source(write_series_source(series, context, target)),
        (series, context, target),
        strict=True,
    ):
        assert (found is None) == (given_ is None)
        if given_ is not None:
            np.testing.assert_array_equal(found, given_)
