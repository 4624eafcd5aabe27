"""A caption on its picture: figure, fragment, page and letters."""

import base64
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.core.prediction import AttentionRecord, Prediction, View
from regard.core.words import Words
from regard.viewing import PictureView, save
from regard.viewing.picture_looks import SHADE, SHADE_DEPTH, lit, smooth

PICTURE = np.full((3, 40, 60), 200, np.uint8)
PICTURE[0, :20, :30] = 255  # redder at the upper left
GRID = (2, 3)


def read(source: str) -> NDArray[np.uint8]:
    return PICTURE


def gone(source: str) -> NDArray[np.uint8]:
    raise UserError(f"{source}: there is no such picture.")


VIEW = PictureView(read, GRID)


def predicted(
    weights: object,
    target: tuple[str, ...] = ("▁a", "▁do", "g", "</s>"),
    *,
    words: Words | None = None,
    text: str = "a dog",
    source: str = "pictures/a.png",
) -> Prediction:
    cells = tuple(str(at) for at in range(6))
    kinds = {} if weights is None else {"cross": np.asarray(weights, dtype=np.float32)}
    record = AttentionRecord(
        cells if kinds else (), target if kinds else (), kinds, None, words if kinds else None
    )
    return Prediction(source, text, target, -0.5, record)


def one_hot(*cells: int) -> NDArray[np.float32]:
    return np.eye(6, dtype=np.float32)[list(cells)][None, None]


A_DOG = Words(("a", "dog"), ((0,), (1,), (1,), None))
PIECES = predicted(one_hot(0, 1, 5, 3))
WORDS = predicted(one_hot(0, 1, 5, 3), words=A_DOG)


def panels(figure: Figure) -> list[NDArray[np.uint8]]:
    return [np.asarray(axes.images[0].get_array()) for axes in figure.axes]


def names(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def brightest(panel: NDArray[np.uint8]) -> list[int]:
    """The cells whose middle is as light as in the picture itself."""
    middles = panel[10::20, 10::20].astype(int)  # 2 3 3
    same = np.abs(middles - PICTURE.transpose(1, 2, 0)[10::20, 10::20]).max(axis=-1) < 12
    return np.flatnonzero(same).tolist()


def test_a_picture_view_is_a_view() -> None:
    view: View = VIEW
    assert replace(PIECES, view=view).plot().axes


def test_the_plain_picture_comes_first_and_then_each_piece_lit_where_it_looked() -> None:
    figure = VIEW.figure(PIECES)
    first, *others = panels(figure)
    np.testing.assert_array_equal(first, PICTURE.transpose(1, 2, 0))
    assert [brightest(panel) for panel in others] == [[0], [1], [5], [3]]
    assert {"a dog", "▁a", "▁do", "g", "</s>"} <= set(names(figure))


def test_words_look_where_their_pieces_did() -> None:
    figure = VIEW.figure(WORDS)
    _, a, dog, end = panels(figure)
    assert {"a", "dog", "</s>"} <= set(names(figure))
    assert (brightest(a), brightest(dog), brightest(end)) == ([0], [1, 5], [3])


def test_marks_can_be_hidden() -> None:
    figure = VIEW.showing(layer=None, head=None, hide_special=True).figure(WORDS)
    assert len(panels(figure)) == 3
    assert "</s>" not in names(figure)


def test_looks_of_words_at_words_are_a_map_and_those_of_cells_at_cells_are_refused() -> None:
    record = WORDS.attention
    looks = np.eye(len(record.target_pieces), dtype=np.float32)[None, None]
    itself = replace(WORDS, attention=replace(record, weights={**record.weights, "decoder": looks}))
    view = VIEW.showing(layer=None, head=None, hide_special=False, kind="decoder")
    assert "&lt;s&gt;: 1.000" in view.html(itself)
    with pytest.raises(UserError, match="cells of a picture"):
        VIEW.showing(layer=None, head=None, hide_special=False, kind="encoder")


def test_one_layer_and_head_or_their_mean() -> None:
    weights = np.concatenate([one_hot(0, 0, 0, 0), one_hot(5, 5, 5, 5)], axis=1)  # two heads
    prediction = predicted(weights)
    assert brightest(panels(VIEW.figure(prediction))[1]) == [0, 5]
    assert brightest(panels(replace(VIEW, head=1).figure(prediction))[1]) == [5]
    assert "mean of 2 heads" in names(VIEW.figure(prediction))
    assert "head 1" in names(replace(VIEW, head=1).figure(prediction))
    with pytest.raises(UserError, match="no head 2"):
        replace(VIEW, head=2).figure(prediction)


def test_an_ensemble_shows_the_mean_of_its_members() -> None:
    record = PIECES.attention
    both = {"cross.1": one_hot(0, 0, 0, 0), "cross.2": one_hot(2, 2, 2, 2)}
    prediction = replace(PIECES, attention=replace(record, weights=both))
    assert brightest(panels(VIEW.figure(prediction))[1]) == [0, 2]
    assert page_data(VIEW.page(prediction))["weights"][0][0][0] == [0.5, 0, 0.5, 0, 0, 0]


def test_a_look_everywhere_leaves_the_picture_as_it_is() -> None:
    picture = PICTURE.transpose(1, 2, 0)
    np.testing.assert_array_equal(lit(picture, np.full(GRID, 1 / 6)), picture)


def test_where_nobody_looked_the_picture_is_dark() -> None:
    look = np.zeros((2, 30))
    look[0, 0] = 1
    dark = lit(np.full((40, 600, 3), 200, np.uint8), look)[-1, -1]
    expected = 200 * (1 - SHADE_DEPTH) + np.array(SHADE) * SHADE_DEPTH
    np.testing.assert_allclose(dark, expected, atol=1)


def test_a_look_is_smooth_and_keeps_its_place() -> None:
    look = np.zeros((7, 7))
    look[2, 5] = 0.3
    soft = smooth(look, 70, 70)
    assert soft.max() == 1
    down, across = np.unravel_index(soft.argmax(), soft.shape)
    assert (abs(down - 24.5), abs(across - 54.5)) == (0.5, 0.5)
    assert np.abs(np.diff(soft, axis=0)).max() < 0.12  # no edges
    np.testing.assert_array_equal(smooth(np.zeros((2, 2)), 4, 4), 0)


def test_numbers_that_are_none_do_not_stop_the_drawing(tmp_path: Path) -> None:
    weights = one_hot(0, 1, 5, 3)
    weights[0, 0, 0, 2] = np.nan
    for suffix in ("png", "svg", "html"):
        save(predicted(weights), tmp_path / f"a.{suffix}", view=VIEW)
    assert VIEW.letters(predicted(weights))


def test_a_picture_that_cannot_be_seen_any_more_is_told_everywhere() -> None:
    view = replace(VIEW, read=gone)
    told = "The picture cannot be seen any more. pictures/a.png: there is no such picture."
    assert told in names(view.figure(WORDS))
    assert told in view.page(WORDS)
    assert len(panels(view.figure(WORDS))) == 4


def test_a_model_without_attention_gets_a_sentence_everywhere(tmp_path: Path) -> None:
    prediction = predicted(None)
    for suffix in ("png", "svg", "html", "json"):
        save(prediction, tmp_path / f"a.{suffix}", view=VIEW)
    assert "none was recorded, or this model has none" in (tmp_path / "a.svg").read_text()
    for text in (VIEW.html(prediction), VIEW.page(prediction), VIEW.letters(prediction)):
        assert "none was recorded, or this model has none" in text


def test_an_empty_answer_can_be_drawn() -> None:
    prediction = predicted(np.zeros((1, 1, 0, 6)), (), text="")
    assert len(panels(VIEW.figure(prediction))) == 1
    assert "no pieces" in VIEW.letters(prediction)
    assert page_data(VIEW.page(prediction))["words"] == []


def test_many_long_words_and_odd_ones_can_be_drawn(tmp_path: Path) -> None:
    target = ("</script><script>", "$x^2$", "\x00", "\ud800", "猫", "w" * 60, "<!--")
    prediction = predicted(np.full((1, 1, 7, 6), 1 / 6), target, text="</title><b>{{data}}" * 20)
    for suffix in ("png", "html"):
        save(prediction, tmp_path / f"a.{suffix}", view=VIEW)
    text = VIEW.page(prediction)
    assert text.count("<script") == 2
    assert "<b>{{data}}" not in text
    assert "<b>" not in VIEW.html(prediction)
    VIEW.letters(prediction).encode("utf-8", "surrogatepass")


def page_data(text: str) -> dict[str, object]:
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert block
    return json.loads(block[1])


def embedded(text: str) -> NDArray[np.uint8]:
    found = re.search(r'src="data:image/png;base64,([^"]+)"', text)
    assert found
    return matplotlib.image.imread(io.BytesIO(base64.b64decode(found[1])))


def test_the_page_holds_the_picture_and_every_look_by_words() -> None:
    text = VIEW.page(WORDS)
    np.testing.assert_allclose(embedded(text)[..., :3] * 255, PICTURE.transpose(1, 2, 0), atol=0.01)
    data = page_data(text)
    assert data["words"] == ["a", "dog", "</s>"]
    assert data["marks"] == [False, False, True]
    assert (data["grid"], data["shape"], data["hidden"]) == ([2, 3], [1, 1, 3, 6], False)
    assert data["weights"][0][0][1] == [0, 0.5, 0, 0, 0, 0.5]
    assert page_data(replace(VIEW, hide_special=True).page(WORDS))["hidden"] is True


def test_the_page_may_show_what_is_written_in_it_and_fetches_nothing() -> None:
    text = VIEW.page(replace(WORDS, source="data:image/png;base64,SECRET"))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    assert "default-src 'none'" in policy[1]
    assert "img-src data:;" in policy[1]
    assert not re.search(r"https?:|url\(|@import|innerHTML|\beval\b", text)
    assert set(re.findall(r'\bsrc="(.{5})', text)) == {"data:"}
    assert "SECRET" not in text
    assert "a picture" in text


def test_the_fragment_says_the_answer_and_shows_the_strip() -> None:
    text = VIEW.html(WORDS)
    assert "pictures/a.png → <strong" in text
    assert ">a dog</strong>" in text
    assert re.search(r'alt="[^"]+"', text)
    assert embedded(text).shape[1] > 300
    assert "<script" not in text
    assert "base64,SECRET" not in VIEW.html(replace(WORDS, source="data:image/png;base64,SECRET"))


def test_letters_are_darkest_where_a_word_looked_most() -> None:
    answer, _, *rows = VIEW.letters(WORDS).split("\n")[1:]
    assert answer == "a dog   (log-probability -0.500)"
    assert rows[0].split() == ["a", "dog", "</s>"]
    first, second, third = (re.findall("▕(.*?)▏", row) for row in (*rows[1:], ""))
    assert first == ["██    ", "  ██  ", "      "]
    assert second == ["      ", "    ██", "██    "]
    assert third == []


def test_fine_grids_are_added_up_in_letters() -> None:
    weights = np.zeros((1, 1, 1, 196), np.float32)
    weights[..., [14 * 13 + 12, 14 * 13 + 13]] = 0.5  # at the lower right
    record = AttentionRecord(tuple(map(str, range(196))), ("x",), {"cross": weights})
    found = replace(VIEW, grid=(14, 14)).letters(Prediction("a.png", "x", ("x",), -1.0, record))
    rows = re.findall("▕(.*?)▏", found)
    assert [len(row) for row in rows] == [14] * 7
    assert rows[-1] == " " * 12 + "██"
    assert not any(row.strip() for row in rows[:-1])
