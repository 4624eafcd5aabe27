from dataclasses import replace

import numpy as np
from matplotlib.text import Text

from regard.core.prediction import Prediction
from regard.viewing import TextView, terminal


def test_characters_become_a_map_of_shades(two_by_three: Prediction) -> None:
    assert terminal(two_by_three).split("\n") == [
        "a c",
        "xy   (log-probability -0.250)",
        "",
        "   a ␣ c",
        "x    ░ ▓",
        "y  █",
    ]


def test_words_become_the_strongest_with_their_weights(predict) -> None:
    prediction = predict(
        ["the", "cat", "sat", "down"], ["le", "chat"], [[[[0.6, 0.3, 0.08, 0.02], [0, 1, 0, 0]]]]
    )
    assert terminal(prediction).split("\n")[3:] == ["  le  the 0.60   cat 0.30   sat 0.08", "chat  cat 1.00"]


def test_wide_letters_keep_the_columns_straight(predict) -> None:
    assert terminal(predict(["注", "b"], ["意", "y"])).split("\n")[3:] == ["    注 b", "意  ██", " y     █"]


def test_special_pieces_can_be_hidden(many_heads: Prediction) -> None:
    assert "</s>" in terminal(many_heads)
    assert "</s>" not in terminal(many_heads, hide_special=True)


def test_control_characters_of_an_answer_do_not_reach_the_terminal(predict) -> None:
    shown = terminal(predict(["\x1b[2J"], ["\x1b]0;x\x07", "\r"]))
    assert not any(ord(letter) < 32 and letter != "\n" for letter in shown)


def test_nothing_to_draw_is_said(predict) -> None:
    assert "none was recorded, or this model has none" in terminal(predict(["a"], ["x"], None))
    assert "the source has no pieces" in terminal(predict([], ["x"], np.zeros((1, 1, 1, 0))))
    assert "the answer has no pieces" in terminal(predict(["a"], [], np.zeros((1, 1, 0, 1))))


def test_one_layer_and_head_can_be_shown(predict) -> None:
    looks = np.array([[[[1.0, 0.0]], [[0.0, 1.0]]]])  # one layer, two heads
    prediction = predict(["left", "right"], ["word"], looks)
    assert terminal(prediction).endswith("word  left 0.50   right 0.50")
    assert terminal(prediction, layer=0, head=1).endswith("word  right 1.00")


def test_members_of_an_ensemble_are_shown_as_their_mean(predict) -> None:
    prediction = predict(["left", "right"], ["word"], np.array([[[[1.0, 0.0]]]]))
    weights = {"cross.1": np.array([[[[1.0, 0.0]]]]), "cross.2": np.array([[[[0.5, 0.5]]] * 2])}
    together = replace(prediction, attention=replace(prediction.attention, weights=weights))
    assert terminal(together).endswith("word  left 0.75   right 0.25")
    assert any("mean of 2 models" in text.get_text() for text in TextView().figure(together).findobj(Text))
