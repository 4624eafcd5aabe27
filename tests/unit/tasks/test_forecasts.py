from regard.core.points import read_points
from regard.tasks.forecasts import ConstantVelocity, LastPoint


def test_the_last_point_stays() -> None:
    sources = ["[[0, 0], [1, 3]]", '{"series": [[5, 1], [6, null]], "context": [[9]], "target": [[7, 7]]}']
    assert LastPoint(2).answers([], sources) == ["[[1, 3], [1, 3]]", "[[6, 1], [6, 1]]"]


def test_the_last_velocity_stays() -> None:
    assert ConstantVelocity(3).answers([], ["[[9, 9], [0, 0], [1, -2]]"]) == ["[[2, -4], [3, -6], [4, -8]]"]


def test_velocity_is_measured_between_the_values_that_are_known() -> None:
    """x: 0 → 4 in two steps, then one step unseen; y is known once, z never."""
    (answer,) = ConstantVelocity(2).answers(
        [], ["[[0, null, null], [null, 3, null], [4, null, null], [null, null, null]]"]
    )
    assert answer == "[[8, 3, null], [10, 3, null]]"
    assert read_points(answer).shape == (2, 3)


def test_one_point_stands_still() -> None:
    assert ConstantVelocity(1).answers([], ["[[2, 3]]"]) == ["[[2, 3]]"]
