"""Paths: what is drawn, as picture, fragment, page and letters."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from walks import LOOKS, OBSERVED, PREDICTED, walked

from regard.core.errors import UserError
from regard.core.prediction import AttentionRecord, Prediction
from regard.viewing import PathView, canvas, save
from regard.viewing.path_data import Paths

SVG = "{http://www.w3.org/2000/svg}"
NAN = float("nan")
CONTEXT = {"cross": [[LOOKS]], "context": [[[[0, 1, 0], [0, 0, 1]]]]}


def everything() -> Prediction:
    return walked(
        true=[[4, 0], [5, 0]],
        context=[[1], [2], [3]],
        samples=[[[4, 3], [5, 3]], [[4, 4], [5, 4]]],
        weights=CONTEXT,
    )


def without_attention() -> Prediction:
    return walked(weights={})


def three_values() -> Prediction:
    points = np.arange(12.0).reshape(4, 3)
    points[1, 2] = NAN
    return walked([[9, 9, 9], [10, 9, 8]], points)


def drawing(text: str) -> ElementTree.Element:
    (found,) = re.findall(r"<svg [^>]*viewBox.*?</svg>", text, re.DOTALL)[:1]
    return ElementTree.fromstring(found)


def circles(text: str, kind: str) -> list[dict[str, str]]:
    return [dict(one.attrib) for one in drawing(text).iter(f"{SVG}circle") if one.get("class") == kind]


# ---- what there is to draw


def test_everything_is_read_off_the_prediction() -> None:
    paths = Paths.of(everything())
    np.testing.assert_array_equal(paths.observed, OBSERVED)
    np.testing.assert_array_equal(paths.predicted, PREDICTED)
    np.testing.assert_array_equal(paths.true, [[4, 0], [5, 0]])
    assert len(paths.samples) == 2
    assert list(paths.looks) == ["cross", "context"]
    assert paths.distances == (1.5, 2.0)
    np.testing.assert_allclose(paths.marks_of(None), [0.5, 0.1, 0.05, 0.35], rtol=1e-6)
    np.testing.assert_allclose(paths.marks_of(1), LOOKS[1], rtol=1e-6)


def test_of_a_series_that_is_too_long_the_last_points_were_looked_at() -> None:
    record = AttentionRecord(("a", "b"), ("t", "t"), {"cross": np.full((1, 1, 2, 2), 0.5, np.float32)})
    marks = Paths.of(replace(walked(), attention=record)).marks
    assert marks is not None
    assert marks.tolist() == [[0, 0, 0.5, 0.5]] * 2


def test_looks_at_something_else_than_the_observed_points_mark_none_of_them() -> None:
    record = AttentionRecord(tuple("abcde"), ("t", "t"), {"cross": np.full((1, 1, 2, 5), 0.2, np.float32)})
    assert Paths.of(replace(walked(), attention=record)).marks is None


def test_distances_leave_out_what_is_not_known() -> None:
    assert Paths.of(walked(true=[[4, 1], [NAN, 2]])).distances == (0, 0)
    assert Paths.of(walked(true=[[NAN, 1], [NAN, 2]])).distances is None
    assert Paths.of(walked()).distances is None


# ---- figure


def lines(prediction: Prediction, view: PathView | None = None) -> list[np.ndarray]:
    figure = (view or PathView()).figure(prediction)
    return [np.stack(line.get_data(), axis=1) for line in figure.axes[0].get_lines()]


def test_a_figure_has_every_path() -> None:
    drawn = [one.tolist() for one in lines(everything())]
    assert OBSERVED in drawn
    for path in (PREDICTED, [[4, 0], [5, 0]], [[4, 3], [5, 3]], [[4, 4], [5, 4]]):
        assert [OBSERVED[-1], *path] in drawn
    assert len(drawn) == 5


@pytest.mark.parametrize(("step", "expected"), [(None, [0.5, 0.1, 0.05, 0.35]), (0, LOOKS[0]), (1, LOOKS[1])])
def test_the_marks_of_a_figure_are_as_large_as_the_weights(step: int | None, expected: list[float]) -> None:
    (marks,) = PathView(step=step).figure(walked()).axes[0].collections
    np.testing.assert_allclose(marks.get_offsets(), OBSERVED)
    np.testing.assert_allclose(
        marks.get_sizes() / marks.get_sizes().max(), np.array(expected) / max(expected), rtol=1e-5
    )


def test_a_figure_has_a_map_for_each_kind_of_look() -> None:
    figure = PathView().figure(everything())
    assert [axes.get_label() for axes in figure.axes] == ["path", "cross", "context"]
    np.testing.assert_allclose(figure.axes[1].collections[0].get_array(), LOOKS, rtol=1e-6)
    np.testing.assert_allclose(figure.axes[2].collections[0].get_array(), [[0, 1, 0], [0, 0, 1]])
    words = [label.get_text() for label in figure.axes[1].get_xticklabels()]
    assert words == ["−3", "−2", "−1", "0"]


def test_other_than_two_values_are_drawn_over_time() -> None:
    figure = PathView().figure(three_values())
    assert [axes.get_label() for axes in figure.axes] == ["value 1", "value 2", "value 3", "cross"]
    observed, predicted = lines(three_values())
    assert observed[:, 0].tolist() == [-3, -2, -1, 0]
    assert predicted.tolist() == [[1, 9], [2, 10]]
    many = walked(np.ones((2, 9)), np.ones((4, 9)))
    assert sum(axes.get_label().startswith("value") for axes in PathView().figure(many).axes) == 6


@pytest.mark.parametrize(
    "prediction",
    [
        without_attention(),
        walked([[1, 1]], [[1, 1]], weights={}),
        walked(np.zeros((0, 2)), weights={"cross": np.zeros((1, 1, 0, 4))}),
        walked([[NAN, 1], [2, NAN]], [[NAN, 0], [1, NAN], [2, 2], [NAN, NAN]]),
        walked([[NAN, 1], [2, NAN]], [[NAN, 0], [1, NAN], [NAN, 2], [NAN, NAN]]),
        walked([[1e15, 1], [-1e15, 1]]),
        walked([[5], [6]], [[5], [5], [5], [5]]),
        walked(weights={"cross": np.full((1, 1, 2, 4), NAN)}),
    ],
    ids=[
        "no attention",
        "one place",
        "no answer",
        "holes",
        "no whole point",
        "far away",
        "one value",
        "no numbers",
    ],
)
def test_odd_predictions_can_be_drawn_in_every_way(prediction: Prediction) -> None:
    view = PathView()
    assert canvas.png(view.figure(prediction)).startswith(b"\x89PNG")
    for text in (view.html(prediction), view.page(prediction)):
        ElementTree.tostring(drawing(text))
        assert not re.search(r'="[^"<>]*\b(nan|inf)\b', text.split("<script")[0])
    assert view.letters(prediction)


# ---- page and fragment


def test_the_page_has_marks_and_steps_for_its_script() -> None:
    text = PathView().page(everything())
    assert [one["data-at"] for one in circles(text, "mark")] == ["0", "1", "2", "3"]
    assert [one["data-step"] for one in circles(text, "near")] == ["0", "1"]
    areas = np.array([float(one["r"]) ** 2 for one in circles(text, "mark")])
    np.testing.assert_allclose(areas / areas.max(), [1, 0.2, 0.1, 0.7], atol=0.01)
    places = [(float(one["cx"]), float(one["cy"])) for one in circles(text, "seen")]
    assert places[1][0] - places[0][0] == pytest.approx(places[2][0] - places[1][0], abs=0.2)
    assert places[1][1] - places[2][1] == pytest.approx(
        places[2][0] - places[1][0], abs=0.2
    )  # one scale, y upwards


def test_the_page_carries_all_weights() -> None:
    text = PathView().page(everything())
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    data = json.loads(block)
    np.testing.assert_allclose(data["looks"]["cross"]["weights"], [[LOOKS]], atol=1e-5)
    assert data["looks"]["context"]["columns"] == ["1", "2", "3"]
    assert data["observed"] == ["−3", "−2", "−1", "0"]
    assert data["predicted"] == ["1", "2"]


def test_an_ensembles_page_and_picture_have_the_mean_of_its_members() -> None:
    both = walked(weights={"cross.1": [[[[1, 0, 0, 0]] * 2]], "cross.2": [[[[0, 1, 0, 0]] * 2]]})
    np.testing.assert_allclose(Paths.of(both).marks_of(None), [0.5, 0.5, 0, 0])
    assert '"weights":[[[[0.5,0.5,0.0,0.0]' in PathView().page(both)


@pytest.mark.parametrize(
    "pattern",
    [r"https?:(?!//www\.w3\.org/2000/svg)", r"\bsrc=", r"\bhref=", r"url\(", r"@import", r"innerHTML"],
)
def test_nothing_is_fetched_and_no_text_becomes_markup(pattern: str) -> None:
    assert not re.search(pattern, PathView().page(everything()))


@pytest.mark.parametrize("problem", [None, "it is <b>broken</b>"])
def test_a_source_that_is_no_series_is_told_in_every_way(problem: str | None) -> None:
    hostile = replace(walked(), source="</script><script>alert(1)</script>", problem=problem)
    view = PathView()
    for text in (view.page(hostile), view.html(hostile)):
        assert "No points to draw" in text
        assert "<b>broken" not in text
        assert "<script>alert" not in text
    assert "No points to draw" in view.letters(hostile)
    assert canvas.png(view.figure(hostile)).startswith(b"\x89PNG")


def test_a_fragment_has_no_scripts_and_no_classes() -> None:
    text = PathView().html(everything())
    assert not re.search(r"<script|<style|class=", text)
    assert text.count("<svg") == 3
    ElementTree.fromstring(text)


def test_numbers_of_a_layer_or_step_that_is_not_there_are_told() -> None:
    with pytest.raises(UserError, match="no layer 3"):
        PathView(layer=3).figure(walked())
    with pytest.raises(UserError, match="no step 7: the answer has 2"):
        PathView(step=7).figure(walked())


def test_a_layer_and_head_can_be_shown() -> None:
    weights = np.zeros((2, 2, 2, 4))
    weights[..., 0] = 1
    weights[1, 0] = [[0, 1, 0, 0]] * 2
    prediction = walked(weights={"cross": weights})
    view = PathView().showing(layer=1, head=0, hide_special=True)
    assert "−2: 1.00" in view.letters(prediction)
    assert "−3: 0.75" in PathView().letters(prediction)
    assert "layer 1, head 0" in view.html(prediction)


def test_looks_that_are_not_at_the_source_are_a_map_of_steps() -> None:
    sensed = walked(weights={"cross": np.full((1, 1, 2, 4), 0.25), "context": np.full((1, 1, 2, 5), 0.2)})
    view = PathView().showing(layer=None, head=None, hide_special=False, kind="context")
    assert "looked at 5: 0.200" in view.html(sensed)


# ---- letters


def test_letters_draw_the_plane_and_tell_each_step() -> None:
    told = PathView().letters(walked(true=[[4, 0], [5, 0]])).splitlines()
    assert told[:2] == ["log-likelihood -1.500, off the true path by 1.5 in the mean and 2 at the end", ""]
    assert told[-2:] == [
        "1  4, 1  observed [ ░ ▓] 0: 0.70 −2: 0.20",
        "2  5, 2  observed [█   ] −3: 0.90 −1: 0.10",
    ]
    rows = told[2 : told.index("· observed   o predicted   + true")]
    assert rows[0] == " " * 63 + "o"  # the end, at the upper right
    assert rows[-1][0] == "·"  # the beginning, at the lower left
    assert rows[-1][-1] == "+"
    assert "".join(rows).count("·") == 4
    assert "".join(rows).count("+") == 2


def test_letters_tell_of_the_context_too() -> None:
    assert "context [ █ ] 2: 1.00" in PathView().letters(everything())


def test_letters_without_attention_say_so() -> None:
    assert "none was recorded" in PathView().letters(without_attention())


def test_a_prediction_of_points_is_saved_in_all_formats(tmp_path: Path) -> None:
    for suffix in (".png", ".svg", ".html", ".json"):
        assert save(everything(), tmp_path / f"a{suffix}").stat().st_size > 200
