import re

import numpy as np

from regard.viewing.page_heat import LEVELS, STEPS, STRONGEST, page_heat, page_words


def classes(weights: object, pieces: int = 3) -> list[str]:
    drawing, problem = page_heat(np.asarray(weights, np.float32), ["a"] * pieces, ["x"])
    assert problem is None
    return re.findall(r'<rect [^>]*class="(\w+)"', drawing)


def test_a_cell_has_the_shade_of_its_weight() -> None:
    assert classes([[0.5, 1.0, 0.0]]) == [f"w{STEPS // 2}", f"w{STEPS}"]
    assert classes([[np.nan, 2.0, 0.25]]) == ["bad", f"w{STEPS}", f"w{STEPS // 4}"]


def test_the_style_has_every_shade_and_meets_the_anchors() -> None:
    shades = dict(re.findall(r"\.w(\d+)\{fill:color-mix\(in oklab,(.*?)\);", LEVELS))
    assert list(map(int, shades)) == list(range(STEPS + 1))
    assert shades["0"] == "var(--middle) 0%,var(--low)"
    assert shades[str(STEPS // 2)] == "var(--middle) 100%,var(--low)"
    assert shades[str(STEPS)] == "var(--high) 100%,var(--middle)"


def test_pieces_are_escaped_and_no_style_stands_in_an_attribute() -> None:
    drawing, _ = page_heat(np.ones((1, 1), np.float32), ["<b>"], ['"&'])
    assert "&lt;b&gt;" in drawing
    assert "<b>" not in drawing
    assert "style=" not in drawing


def test_what_cannot_be_drawn_is_said() -> None:
    assert page_heat(np.zeros((1, 0), np.float32), [], ["x"]) == (
        "",
        "Nothing to draw: the source has no pieces.",
    )
    drawing, problem = page_heat(np.zeros((200, 200), np.float32), ["a"] * 200, ["b"] * 200)
    assert drawing == ""
    assert problem == "No picture: 200 by 200 pieces are too many for this page."


def test_of_a_long_source_the_strongest_words_are_told_in_their_order() -> None:
    weights = np.full((2, 400), 0.001, np.float32)
    weights[0, [7, 300, 12]] = 0.2, 0.35, 0.05
    source = [f"s{number}" for number in range(399)] + ["<b>"]
    weights[1, 399] = 0.9
    drawing, problem = page_words(weights, source, ["one", "two"])
    assert problem is None
    assert re.findall(r"<dt>(\w+)</dt>", drawing) == ["one", "two"]
    assert re.findall(r"<mark class=\"w(\d+)\" title=\"([\d.]+)\">([^<]*)</mark>", drawing) == [
        ("8", "0.200", "s7"),
        ("2", "0.050", "s12"),
        ("14", "0.350", "s300"),
        ("36", "0.900", "&lt;b&gt;"),
    ]
    assert "style=" not in drawing


def test_a_look_that_is_even_over_a_long_source_is_told_as_such() -> None:
    drawing, _ = page_words(np.full((1, 400), 1 / 400, np.float32), ["a"] * 400, ["x"])
    assert "nothing more than the rest" in drawing
    many, _ = page_words(np.full((1, 10), 0.1, np.float32), ["a"] * 10, ["x"])
    assert many.count("<mark") == STRONGEST


def test_nothing_to_tell_is_said() -> None:
    assert page_words(np.zeros((0, 3), np.float32), ["a"] * 3, []) == (
        "",
        "Nothing to draw: the answer has no pieces.",
    )
