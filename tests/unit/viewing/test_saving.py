import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from regard.core.errors import UserError
from regard.core.prediction import Prediction
from regard.viewing import TextView, curves, save, save_figure


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html", ".json"])
@pytest.mark.parametrize(("source", "target"), [([], ["</s>"]), (["a"], []), ([], [])])
def test_empty_sides_can_be_saved(predict, tmp_path: Path, suffix: str, source: list, target: list) -> None:
    prediction = predict(source, target, np.zeros((1, 1, len(target), len(source))))
    assert save(prediction, tmp_path / f"map{suffix}").stat().st_size > 0
    assert "Nothing to draw" in TextView().html(prediction)


def test_the_suffix_chooses_the_format(two_by_three: Prediction, tmp_path: Path) -> None:
    assert save(two_by_three, tmp_path / "map.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert save(two_by_three, tmp_path / "MAP.PNG").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ElementTree.parse(save(two_by_three, tmp_path / "map.svg")).getroot().tag.endswith("svg")
    assert save(two_by_three, str(tmp_path / "map.html")).read_text().startswith("<!doctype html>")
    assert json.loads(save(two_by_three, tmp_path / "map.json").read_text())["text"] == "xy"


@pytest.mark.parametrize("name", ["map.pdf", "map", ".png", "map.png.bak"])
def test_another_suffix_is_refused_with_the_four_that_work(
    two_by_three: Prediction, tmp_path: Path, name: str
) -> None:
    with pytest.raises(UserError, match=r"\.png, \.svg, \.html, \.json"):
        save(two_by_three, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_view_that_is_given_draws_the_picture(many_heads: Prediction, tmp_path: Path) -> None:
    save(many_heads, tmp_path / "map.svg", view=TextView(layer=0, head=1))
    assert "layer 0, head 1" in (tmp_path / "map.svg").read_text()


def test_a_prediction_without_a_view_is_drawn_as_text(two_by_three: Prediction, tmp_path: Path) -> None:
    assert "␣" in save(replace(two_by_three, view=None), tmp_path / "map.svg").read_text(encoding="utf-8")


def test_the_same_prediction_gives_the_same_bytes(two_by_three: Prediction, tmp_path: Path) -> None:
    for suffix in (".png", ".svg", ".html", ".json"):
        first = save(two_by_three, tmp_path / f"one{suffix}").read_bytes()
        assert save(two_by_three, tmp_path / f"two{suffix}").read_bytes() == first


def test_missing_folders_are_made(two_by_three: Prediction, tmp_path: Path) -> None:
    assert save(two_by_three, tmp_path / "new" / "folder" / "map.json").exists()


def test_a_place_that_cannot_be_written_is_told_and_nothing_is_left(
    two_by_three: Prediction, tmp_path: Path
) -> None:
    (tmp_path / "map.json").mkdir()
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "map.json", tmp_path / "file" / "map.json"):
        with pytest.raises(UserError, match="cannot write here"):
            save(two_by_three, path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "map.json"]


def test_a_failure_while_writing_keeps_the_old_file(
    two_by_three: Prediction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "map.json"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UserError, match="No space left on device"):
        save(two_by_three, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_hostile_pieces_can_be_saved_in_every_format(hostile: Prediction, tmp_path: Path) -> None:
    for suffix in (".png", ".svg", ".html", ".json"):
        save(hostile, tmp_path / f"map{suffix}")
    ElementTree.parse(tmp_path / "map.svg")


def test_any_figure_can_be_saved_as_a_picture_only(tmp_path: Path) -> None:
    figure = curves(([1, 2], [2.0, 1.0]))
    assert save_figure(figure, tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    ElementTree.parse(save_figure(figure, str(tmp_path / "curves.svg")))
    with pytest.raises(UserError, match=r"'\.json'. Choose one of \.png, \.svg\.$"):
        save_figure(figure, tmp_path / "curves.json")
