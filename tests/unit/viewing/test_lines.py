import math
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

from regard.viewing import canvas, lines
from regard.viewing.lines import spread

LENGTHS = [5.0, 10.0, 20.0]
QUALITY = {
    "exact_match": {
        "attention": (LENGTHS, [100.0, 99.0, 98.0]),
        "fixed vector": (LENGTHS, [90.0, 40.0, 10.0]),
    },
    "bleu": {"fixed vector": ([3.0, 4.0], [20.0, 12.5]), "attention": ([3.0, 4.0], [30.0, 31.0])},
}


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts + figure.artists]  # type: ignore[attr-defined]


def test_each_panel_has_its_lines_over_its_own_lengths() -> None:
    figure = lines(QUALITY, title="$two models")
    exact, bleu = figure.axes
    np.testing.assert_array_equal(exact.lines[1].get_xydata(), [[5, 90], [10, 40], [20, 10]])
    np.testing.assert_array_equal(bleu.lines[0].get_xydata(), [[3, 20], [4, 12.5]])
    assert exact.get_xlim() != bleu.get_xlim()
    assert exact.get_xlabel() == bleu.get_xlabel() == "source length, in pieces"
    assert {"exact_match", "bleu", "$two models"} <= set(words(figure))
    assert b"$two models" in canvas.svg(figure)


def test_lines_are_named_at_their_ends_with_their_last_value() -> None:
    shown = words(lines(QUALITY))
    assert {"attention 98", "fixed vector 10", "attention 31", "fixed vector 12.5"} <= set(shown)


def test_a_name_keeps_its_colour_in_every_panel() -> None:
    exact, bleu = lines(QUALITY).axes
    assert exact.lines[0].get_color() == bleu.lines[1].get_color()
    assert exact.lines[0].get_color() != exact.lines[1].get_color()


def test_no_two_of_a_dozen_lines_look_the_same() -> None:
    (panel,) = lines({"bleu": {f"line {n}": ([1.0, 2.0], [1.0, n]) for n in range(12)}}).axes
    assert len({(line.get_color(), line.get_linestyle()) for line in panel.lines}) == 12


def test_panels_begin_where_they_are_told_to() -> None:
    assert [axes.get_ylim()[0] for axes in lines(QUALITY, lowest=0).axes] == [0, 0]


def test_long_names_at_the_ends_are_inside_the_picture_and_apart() -> None:
    named = {f"a member with quite a long name {n}": ([1.0, 2.0], [50.0, 99.9]) for n in range(12)}
    figure = lines({"exact_match": named})
    _, renderer = canvas.new_figure()
    canvas.png(figure)
    ends = [text for text in figure.artists if text.get_text().startswith("a member")]  # type: ignore[attr-defined]
    boxes = sorted((text.get_window_extent(renderer) for text in ends), key=lambda box: float(box.y0))
    assert len(boxes) == 12
    assert all(box.x1 < figure.bbox.width and box.y0 > 0 and box.y1 < figure.bbox.height for box in boxes)
    assert all(lower.y1 <= upper.y0 for lower, upper in pairwise(boxes))


def test_what_is_not_a_number_leaves_a_gap_and_the_name_stays() -> None:
    figure = lines({"bleu": {"attention": ([1.0, 2.0, 3.0], [7.0, math.nan, math.inf])}})
    assert "attention 7" in words(figure)
    canvas.png(figure)


def test_places_and_values_of_different_numbers_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="attention: 2 places do not go with 1 values"):
        lines({"bleu": {"attention": ([1.0, 2.0], [1.0])}})


@pytest.mark.parametrize(
    ("places", "apart"),
    [
        ([], []),
        ([0.2, 0.8], [0.2, 0.8]),  # far enough: nothing moves
        ([0.5, 0.5], [0.45, 0.55]),
        ([0.4, 0.5, 0.5], [0.35 + 1 / 60, 0.45 + 1 / 60, 0.55 + 1 / 60]),  # their mean stays
        ([1.0, 1.0, 1.0], [0.8, 0.9, 1.0]),  # none leaves the panel
        ([0.0, 0.0], [0.0, 0.1]),
    ],
)
def test_names_move_only_as_far_as_they_must(places: list[float], apart: list[float]) -> None:
    assert spread(places, 0.1) == pytest.approx(apart)
