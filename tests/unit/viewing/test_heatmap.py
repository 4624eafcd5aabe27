import io
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray

from regard.viewing import canvas, heatmap

WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.9, 0.06, 0.04]])


def cell_brightness(figure: Figure, rows: int, columns: int) -> NDArray[np.float64]:
    """How bright the middle of each cell is in the saved picture."""
    picture = matplotlib.image.imread(io.BytesIO(canvas.png(figure)))[:, :, :3].mean(axis=2)
    box = figure.axes[0].get_position()
    high, wide = picture.shape
    across = (box.x0 + box.width * (np.arange(columns) + 0.5) / columns) * wide
    down = (1 - box.y1 + box.height * (np.arange(rows) + 0.5) / rows) * high
    return picture[np.ix_(down.astype(int), across.astype(int))].astype(np.float64)


def texts(figure: Figure) -> list[str]:
    tree = ElementTree.fromstring(canvas.svg(figure))
    return ["".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_importing_the_package_does_not_import_matplotlib_or_torch() -> None:
    code = "import sys, regard.viewing; sys.exit('matplotlib' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_drawing_does_not_load_pyplot() -> None:
    code = "import sys; from regard.viewing import heatmap; heatmap([[1.0]], 'a', 'b'); sys.exit('matplotlib.pyplot' in sys.modules)"  # noqa: E501
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_picture_is_darker_where_the_weight_is_larger() -> None:
    bright = cell_brightness(heatmap(WEIGHTS, "abc", "xy"), 2, 3)
    assert np.argsort(bright, axis=None).tolist() == np.argsort(-WEIGHTS, axis=None).tolist()


def test_a_weight_of_zero_is_white_and_a_weight_of_one_is_ink() -> None:
    bright = cell_brightness(heatmap([[0, 1]], "ab", "x"), 1, 2)
    assert bright[0, 0] == 1
    assert bright[0, 1] < 0.3


def test_the_scale_can_be_stretched_to_a_smaller_weight() -> None:
    plain = cell_brightness(heatmap([[0.2, 0.1]], "ab", "x"), 1, 2)
    stretched = cell_brightness(heatmap([[0.2, 0.1]], "ab", "x", largest=0.2), 1, 2)
    assert stretched[0, 0] < 0.3 < plain[0, 0]


def test_all_pieces_are_texts_of_the_svg_with_their_blanks_visible() -> None:
    shown = texts(heatmap(np.eye(3, 4), ["ğ", " ", "wort", "</s>"], ["ż", " a", "</s>"]))
    assert {"ğ", "␣", "wort", "</s>", "ż", "␣a", "source", "target"} <= set(shown)
    assert shown.count("</s>") == 2


def test_formula_marks_are_drawn_as_they_are() -> None:
    pieces = ["$x_1$", "\\frac{", "_", "^", "<b>&amp;"]
    assert set(pieces) <= set(texts(heatmap(np.eye(5), pieces, pieces, title="$\\bad", caption="$^")))


def test_hidden_special_pieces_leave_the_other_weights_alone() -> None:
    weights = np.array([[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]])
    figure = heatmap(weights, ["a", "<s>", "</s>"], ["x", "</s>"], hide_special=True)
    assert not {"<s>", "</s>"} & set(texts(figure))
    (mesh,) = figure.axes[0].collections
    np.testing.assert_array_equal(np.asarray(mesh.get_array()), [[0.5]])


def test_letters_that_no_font_has_neither_warn_nor_fail() -> None:
    figure = heatmap(np.eye(2), ["𒀀𒁀", "注意"], ["\U0001fbff", "ğ"])
    canvas.png(figure)  # a warning is an error here
    assert "𒀀𒁀" in texts(figure)


def test_a_weight_that_is_not_a_number_is_drawn_in_its_own_colour() -> None:
    bright = cell_brightness(heatmap([[np.nan, 0.0]], "ab", "x"), 1, 2)
    assert 0.7 < bright[0, 0] < 0.95


@pytest.mark.parametrize(("source", "target"), [(1, 1), (3, 2), (5, 5), (60, 40)])
def test_every_text_stays_inside_the_figure_and_labels_do_not_touch(source: int, target: int) -> None:
    words = [f"piece{number}" for number in range(source)]
    figure = heatmap(np.zeros((target, source)), words, [f"t{n}" for n in range(target)], title="A title")
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    whole = figure.bbox
    boxes = {text.get_text(): text.get_window_extent(renderer) for text in figure.texts + figure.artists}
    for box in boxes.values():
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
        assert whole.y0 <= box.y0
        assert box.y1 <= whole.y1
    down = [boxes[f"t{number}"] for number in range(target)]
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(down))


def test_a_picture_of_thousands_of_pieces_keeps_a_bounded_size() -> None:
    figure = heatmap(np.zeros((2, 3000)), ["a"] * 3000, "xy")
    assert max(figure.get_size_inches()) < 50


@pytest.mark.parametrize(("source", "target", "side"), [([], ["x"], "source"), (["a"], [], "answer")])
def test_an_empty_side_gives_a_figure_that_says_so(
    source: Sequence[str], target: Sequence[str], side: str
) -> None:
    figure = heatmap(np.zeros((len(target), len(source))), source, target)
    assert texts(figure) == [f"Nothing to draw: the {side} has no pieces."]


def test_only_special_pieces_that_are_hidden_leave_a_sentence() -> None:
    figure = heatmap([[1.0]], ["a"], ["</s>"], hide_special=True)
    assert texts(figure) == ["Nothing to draw: the answer has no pieces."]


def test_weights_that_do_not_go_with_the_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 3\).*3 target pieces"):
        heatmap(WEIGHTS, "ab", "xyz")
