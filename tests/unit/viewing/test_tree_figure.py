from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.text import Text

from regard.core.prediction import AttentionRecord, BeamNode, Prediction
from regard.viewing import save_figure, tree_figure
from regard.viewing.tree_figure import MOST


def test_every_hypothesis_is_written_and_has_its_line(small_beam: Prediction) -> None:
    (axes,) = tree_figure(small_beam).axes
    words = sorted(text.get_text() for text in axes.texts)
    assert words == sorted(["step", "1", "2", "3", "a", "b", "c", "x", "y", "</s>", "</s>", "</s>"])
    lines = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
    assert len(lines) == 8
    assert sum(line.get_linestyle() not in ("-", "solid") for line in lines) == 2  # what was pruned


def test_kept_has_an_outline_finished_has_two_and_pruned_none(small_beam: Prediction) -> None:
    (axes,) = tree_figure(small_beam).axes
    boxes = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) == 4 + 2 * 2


def test_a_large_beam_is_bounded(random_beam) -> None:
    (axes,) = tree_figure(random_beam(1, width=30, steps=20)).axes
    assert len([patch for patch in axes.patches if isinstance(patch, PathPatch)]) == MOST


def test_an_endless_answer_still_fits_on_a_picture() -> None:
    length = 700
    nodes = tuple(
        BeamNode(step - 1 if step else None, "wide " * 5, -step, -step, "kept", step + 1)
        for step in range(length)
    )
    pieces = ("wide " * 5,) * length
    prediction = Prediction("s", "", pieces, 1.0 - length, AttentionRecord(("s",), pieces, {}), beam=nodes)
    assert max(tree_figure(prediction).get_size_inches()) <= 100.01


def test_pieces_are_words_whatever_they_are(small_beam: Prediction, tmp_path: Path) -> None:
    pieces = ("$x_1$", "注意", "<b>&", "\x00\ud800", "\\frac", "$", "</s>", " ")
    nodes = tuple(replace(node, piece=piece) for node, piece in zip(small_beam.beam, pieces, strict=True))
    figure = tree_figure(replace(small_beam, beam=nodes))
    assert save_figure(figure, tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")
    written = [
        text.text
        for text in ElementTree.parse(save_figure(figure, tmp_path / "tree.svg")).iter()
        if text.text
    ]
    assert {"$x_1$", "<b>&", "\\frac", "\\x00\\ud800", "␣"} <= set(written)


def test_without_a_record_the_picture_says_so(two_by_three: Prediction) -> None:
    written = [text.get_text() for text in tree_figure(two_by_three).findobj(Text)]
    assert any("No beam to draw" in words for words in written)
