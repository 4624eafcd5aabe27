import pytest

from regard.core.figures import figure, finer, rounded, signed


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (27.3456, "27.35"),
        (-3.0, "-3.00"),
        (0.5, "0.500"),
        (0.0123, "0.0123"),
        (5e-5, "0.0001"),
        (0.0, "0.00"),
        (100.0, "100.00"),
    ],
)
def test_usual_figures_have_two_to_four_decimals(value: float, told: str) -> None:
    assert figure(value) == told


@pytest.mark.parametrize(("value", "told"), [(4.9e-5, "4.9e-05"), (-1.23e-6, "-1.2e-06"), (1e-9, "1.0e-09")])
def test_a_tiny_figure_is_not_told_as_nothing(value: float, told: str) -> None:
    assert figure(value) == finer(value) == told
    assert rounded(value) == float(told)


def test_what_sums_are_wrong_by_is_nothing() -> None:
    assert signed(0.1 + 0.2 - 0.3) == "+0.00"
    assert rounded(0.1 + 0.2 - 0.3) == 0


def test_differences_have_a_sign() -> None:
    assert [signed(one) for one in (1.5, -0.25, 2e-5, 0.0)] == ["+1.50", "-0.250", "+2.0e-05", "+0.00"]


@pytest.mark.parametrize(
    ("half", "value", "told"),
    [
        (1.25, 30.0, "1.25"),
        (0.001, 30.0, "0.00"),
        (0.5, 0.2, "0.500"),
        (3e-6, 2e-5, "3.0e-06"),
        (0.0, 2e-5, "0.00"),
    ],
)
def test_what_stands_beside_a_figure_is_as_exact(half: float, value: float, told: str) -> None:
    assert figure(half, like=value) == told


@pytest.mark.parametrize("value", [35.12345, 0.00005, 0.12344, -2.5, 0.0, float("inf")])
def test_files_have_four_decimals(value: float) -> None:
    assert rounded(value) == round(value, 4)
    assert finer(value) == f"{value:.4f}"
