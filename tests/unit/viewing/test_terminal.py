import numpy as np

from regard.core.prediction import Prediction
from regard.viewing import terminal


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
    assert "one fixed vector" in terminal(predict(["a"], ["x"], None))
    assert "the source has no pieces" in terminal(predict([], ["x"], np.zeros((1, 1, 1, 0))))
    assert "the answer has no pieces" in terminal(predict(["a"], [], np.zeros((1, 1, 0, 1))))
