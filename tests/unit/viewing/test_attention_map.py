import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

from regard.core.errors import UserError
from regard.core.prediction import Prediction, View
from regard.viewing import TextView, canvas, save


def drawn(view: TextView, prediction: Prediction) -> np.ndarray:
    (mesh,) = view.figure(prediction).axes[0].collections
    return np.asarray(mesh.get_array())


def names(view: TextView, prediction: Prediction) -> list[str]:
    return [text.get_text() for text in view.figure(prediction).findobj(Text)]


def test_a_text_view_is_a_view(two_by_three: Prediction) -> None:
    view: View = TextView()
    assert replace(two_by_three, view=view).plot().axes


def test_the_mean_is_drawn_unless_a_layer_and_a_head_are_chosen(many_heads: Prediction) -> None:
    np.testing.assert_allclose(drawn(TextView(), many_heads), [[0.75, 0.25]] * 2)
    np.testing.assert_allclose(drawn(TextView(layer=1), many_heads), [[0.5, 0.5]] * 2)
    np.testing.assert_allclose(drawn(TextView(layer=1, head=0), many_heads), [[0, 1]] * 2)
    np.testing.assert_allclose(drawn(TextView(hide_special=True), many_heads), [[0.75, 0.25]])


def test_the_axes_bear_the_names_they_are_given(two_by_three: Prediction) -> None:
    assert {"source", "target"} <= set(names(TextView(), two_by_three))
    assert {"source (en)", "target (de)"} <= set(
        names(TextView(sides=("source (en)", "target (de)")), two_by_three)
    )


@pytest.mark.parametrize(
    ("kind", "across", "sides"),
    [
        ("encoder", ["a", "b"], {"source"}),
        ("decoder", ["<s>", "x"], {"target, so far", "target"}),
    ],
)
def test_looks_of_another_kind_are_drawn_in_every_form(
    many_heads: Prediction, kind: str, across: list[str], sides: set[str]
) -> None:
    record = many_heads.attention
    weights = np.array([[[[0.25, 0.75], [0.5, 0.5]]]], np.float32)
    prediction = replace(many_heads, attention=replace(record, weights={**record.weights, kind: weights}))
    view = TextView().showing(layer=None, head=None, hide_special=False, kind=kind)
    np.testing.assert_array_equal(drawn(view, prediction), weights[0, 0])
    assert sides | set(across) <= set(names(view, prediction))
    assert f"looked at {across[1]}: 0.750" in view.html(prediction).replace("&lt;", "<").replace("&gt;", ">")
    letters = view.letters(prediction)
    assert ("x  x 0.75   <s> 0.25" if kind == "decoder" else "a  ░ ▓") in letters, letters
    page = view.page(prediction)
    assert '"shape":[1,1,2,2],"weights":[[[[0.25,0.75],[0.5,0.5]]]]' in page
    assert f'<h2 id="source-name">{"Looked at" if kind == "encoder" else "Before"}</h2>' in page


@pytest.mark.parametrize(
    ("view", "caption"),
    [
        (TextView(), "mean of 2 layers × 2 heads"),
        (TextView(layer=1), "layer 1, mean of 2 heads"),
        (TextView(layer=1, head=0), "layer 1, head 0"),
    ],
)
def test_a_picture_of_several_heads_says_which(many_heads: Prediction, view: TextView, caption: str) -> None:
    assert caption in canvas.svg(view.figure(many_heads)).decode()
    assert caption in view.html(many_heads)


def test_a_layer_or_head_that_is_not_there_is_refused(
    many_heads: Prediction, two_by_three: Prediction
) -> None:
    with pytest.raises(UserError, match="no layer 2: this model has layers 0 to 1"):
        TextView(layer=2).figure(many_heads)
    with pytest.raises(UserError, match="no head -1: this model has one head, head 0"):
        TextView(head=-1).html(two_by_three)


def test_a_model_without_attention_gets_a_sentence_everywhere(predict, tmp_path: Path) -> None:
    prediction = predict(["a"], ["x"], None)
    for suffix in (".png", ".svg", ".html", ".json"):
        save(prediction, tmp_path / f"map{suffix}")
    assert "none was recorded, or this model has none" in (tmp_path / "map.svg").read_text()
    assert "none was recorded, or this model has none" in TextView().html(prediction)
    assert json.loads((tmp_path / "map.json").read_text())["attention"] == {}
