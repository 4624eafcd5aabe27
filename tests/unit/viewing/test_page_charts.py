import re

import pytest

from regard.viewing.page_charts import Curve, chart, learning_charts, nice_ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 4000, [0, 1000, 2000, 3000, 4000]),
        (9.8, 38.3, [0, 10, 20, 30, 40]),
        (1.3, 8.7, [0, 2, 4, 6, 8, 10]),
        (0.5, 0.9, [0.5, 0.6, 0.7, 0.8, 0.9]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
        (7, 7, [7, 7.25, 7.5, 7.75, 8]),
    ],
)
def test_ticks_are_round_and_hold_the_values(low: float, high: float, expected: list[float]) -> None:
    assert nice_ticks(low, high) == expected


@pytest.mark.parametrize("values", [(100.0, 100.00000000000001), (0.0, 1e-13), (3.0, 3.0)])
@pytest.mark.parametrize("lowest", [None, 0.0])
def test_a_curve_that_hardly_moves_can_be_drawn(values: tuple[float, float], lowest: float | None) -> None:
    curve = Curve("flat", [(0, values[0]), (1, values[1])])
    assert "<path" in chart("x", [curve], over="steps", lowest=lowest)


RECORD = [
    {"kind": "train", "step": 1, "loss": 4.0, "learning_rate": 0.1},
    {"kind": "train", "step": 2, "loss": 2.0, "learning_rate": 0.1},
    {"kind": "validation", "step": 2, "loss": 3.0, "bleu <x>": 20.0},
    {"kind": "validation", "step": 4, "loss": float("nan"), "bleu <x>": 40.0},
    {"kind": "average", "step": 4, "loss": 1.0, "steps": [2, 4], "is_best": True},
]


def test_there_is_a_panel_for_the_loss_and_for_each_validated_score() -> None:
    page = learning_charts(RECORD)
    assert re.findall(r"<b>(.*?)</b>", page) == ["loss", "bleu &lt;x&gt;"]
    assert "training 2<" in page
    assert "validation 3<" in page  # what is not a number is left out
    assert "validation 40<" in page
    assert "learning_rate" not in page


def test_a_curve_stands_where_its_values_are() -> None:
    page = learning_charts(
        [{"kind": "train", "step": step, "loss": loss} for step, loss in ((0, 4), (10, 0), (5, 2))]
    )
    (path,) = re.findall(r'class="curve training" d="M([^"]*)"', page)
    (left, top), (right, bottom), middle = [tuple(map(float, point.split())) for point in path.split("L")]
    assert left < right
    assert top < bottom  # down the screen
    assert middle == pytest.approx(((left + right) / 2, (top + bottom) / 2), abs=0.1)


def test_without_a_record_there_is_nothing() -> None:
    assert learning_charts([]) == ""
    assert learning_charts([{"kind": "train", "step": 1, "loss": float("inf")}]) == ""


def test_long_numbers_on_the_axis_have_room() -> None:
    page = learning_charts([{"kind": "train", "step": n, "loss": 2.71190 + n * 1e-5} for n in range(3)])
    labels = re.findall(r'<text x="(\d+)" y="[\d.]+" text-anchor="end">([\d.]+)</text>', page)
    assert max(len(number) for _, number in labels) > 5
    assert all(int(x) >= 6 * len(number) for x, number in labels)


def test_an_axis_that_begins_at_zero_does_so_where_all_values_are_zero() -> None:
    page = chart("bleu", [Curve("a", [(1.0, 0.0), (2.0, 0.0)])], over="length", lowest=0)
    assert "-0" not in page
    assert ">0.25<" in page
