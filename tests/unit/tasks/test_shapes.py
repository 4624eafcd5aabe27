import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.core.errors import UserError
from regard.tasks import shapes as module
from regard.tasks.shapes import COLOURS, OUTLINES, Scene, Shape, cells_of, make_scenes, write_scenes

NUMBERS = {"two": 2, "three": 3}


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return list(make_scenes(400, size=48, seed=5))


def centre(shape: Shape) -> tuple[float, float]:
    left, top, right, bottom = shape.box
    return (left + right) / 2, (top + bottom) / 2


def said(caption: str) -> list[str]:
    """The shapes that a caption names, one by one and in its order: `two red stars and a blue square`."""
    found = []
    for number, name in re.findall(r"\b(a|two|three) (?:small |large )?(\w+ \w+)", caption):
        single = (
            name.removesuffix("es")
            if name.endswith("crosses")
            else name.removesuffix("s" if number != "a" else "")
        )
        found += [single] * NUMBERS.get(number, 1)
    return found


def test_every_caption_names_the_shapes_of_its_picture(scenes: list[Scene]) -> None:
    for scene in scenes:
        assert sorted(said(scene.caption)) == sorted(map(str, scene.shapes)), scene.caption


def test_relations_are_true_in_the_picture_and_plain_to_see(scenes: list[Scene]) -> None:
    checked = 0
    for scene in scenes:
        relations, named = re.findall(r"left of|above", scene.caption), said(scene.caption)
        for relation, before, after in zip(relations, named, named[1:], strict=False):
            (first,) = [shape for shape in scene.shapes if str(shape) == before]
            (second,) = [shape for shape in scene.shapes if str(shape) == after]
            right, down = np.subtract(centre(second), centre(first))
            along, aside = (right, down) if relation == "left of" else (down, right)
            assert along >= 2 * abs(aside), scene.caption
            checked += 1
    assert checked > 200


def test_sizes_are_told_of_single_shapes_alone_and_are_plain_to_see(scenes: list[Scene]) -> None:
    for scene in scenes:
        left, _, right, _ = scene.shapes[0].box
        if "small" in scene.caption:
            assert right - left < 0.25 * 48
        elif "large" in scene.caption:
            assert right - left > 0.38 * 48
        else:
            assert len(scene.shapes) > 1


def test_shapes_stand_apart_and_inside(scenes: list[Scene]) -> None:
    for scene in scenes:
        for shape in scene.shapes:
            left, top, right, bottom = shape.box
            assert 0 <= left < right <= 48
            assert 0 <= top < bottom <= 48
        for one, other in combinations(scene.shapes, 2):
            assert (
                one.box[2] <= other.box[0]
                or other.box[2] <= one.box[0]
                or one.box[3] <= other.box[1]
                or other.box[3] <= one.box[1]
            )


def test_a_shape_is_drawn_in_its_colour_and_fills_its_box(scenes: list[Scene]) -> None:
    for scene in scenes:
        assert (scene.picture.shape, scene.picture.dtype) == ((48, 48, 3), np.uint8)
        paper = np.median(scene.picture.reshape(-1, 3), axis=0)
        painted = (scene.picture != paper).any(axis=-1)
        for shape in scene.shapes:
            left, top, right, bottom = shape.box
            across, down = centre(shape)
            np.testing.assert_array_equal(scene.picture[int(down), int(across)], COLOURS[shape.colour])
            own = painted[top:bottom, left:right]
            assert own[0].any()
            assert own[-1].any()
            assert own[:, 0].any()
            assert own[:, -1].any()
            painted[top:bottom, left:right] = False
        assert not painted.any()


def test_all_kinds_colours_and_ways_of_saying_come_up(scenes: list[Scene]) -> None:
    assert {shape.kind for scene in scenes for shape in scene.shapes} == set(OUTLINES)
    assert {shape.colour for scene in scenes for shape in scene.shapes} == set(COLOURS)
    words = {word for scene in scenes for word in scene.caption.split()}
    assert {"a", "two", "three", "small", "large", "left", "of", "above", "and"} <= words
    assert "crosss" not in words
    assert len(words) <= 30


def test_the_seed_decides_everything_and_no_scene_comes_twice(scenes: list[Scene]) -> None:
    again = list(make_scenes(20, size=48, seed=5))
    for one, other in zip(again, scenes[:20], strict=True):
        assert (one.caption, one.shapes) == (other.caption, other.shapes)
        np.testing.assert_array_equal(one.picture, other.picture)
    assert [one.shapes for one in make_scenes(20, size=48, seed=6)] != [one.shapes for one in again]
    assert len({scene.shapes for scene in scenes}) == len(scenes)


def test_tiny_pictures_are_refused() -> None:
    with pytest.raises(UserError, match="32 pixels a side or more, not 16"):
        next(make_scenes(1, size=16))
    assert next(make_scenes(1, size=32)).picture.shape == (32, 32, 3)


def test_cells_are_those_that_a_box_touches() -> None:
    assert np.flatnonzero(cells_of((0, 0, 16, 16), (4, 4), 64)).tolist() == [0]
    assert np.flatnonzero(cells_of((16, 0, 33, 16), (4, 4), 64)).tolist() == [1, 2]
    assert np.flatnonzero(cells_of((15, 15, 17, 17), (4, 4), 64)).tolist() == [0, 1, 4, 5]
    assert np.flatnonzero(cells_of((40, 0, 41, 64), (2, 4), 64)).tolist() == [2, 6]
    assert cells_of((0, 0, 64, 64), (7, 7), 64).all()


def test_a_folder_of_scenes_has_the_layout_of_flickr8k(tmp_path: Path) -> None:
    folder = write_scenes(tmp_path / "made", train=6, validation=3, test=2, size=32, seed=2)
    parts = {part: (folder / f"{part}.txt").read_text().split() for part in ("train", "val", "test")}
    assert {part: len(names) for part, names in parts.items()} == {"train": 6, "val": 3, "test": 2}
    names = [name for part in parts.values() for name in part]
    assert len(set(names)) == 11
    assert sorted(path.name for path in (folder / "images").iterdir()) == sorted(names)
    captions: dict[str, str] = {}
    for line in (folder / "captions.tsv").read_text().splitlines():
        name, caption = line.split("\t")
        captions[name] = caption
    truth = [json.loads(line) for line in (folder / "shapes.jsonl").read_text().splitlines()]
    for name, scene, where in zip(names, make_scenes(11, size=32, seed=2), truth, strict=True):
        assert captions[name] == scene.caption
        np.testing.assert_array_equal(np.asarray(Image.open(folder / "images" / name)), scene.picture)
        assert where["image"] == name
        assert [tuple(shape["box"]) for shape in where["shapes"]] == [shape.box for shape in scene.shapes]


def test_scenes_are_made_once_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    sizes = {"train": 2, "validation": 1, "test": 1, "size": 32}
    folder = write_scenes(**sizes)
    assert folder.is_relative_to(tmp_path)
    assert write_scenes(**sizes, seed=2) != folder
    monkeypatch.setattr(module, "make_scenes", lambda *_, **__: pytest.fail("made again"))
    assert write_scenes(**sizes) == folder


def test_scenes_appear_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stopped(number: int, **options: int) -> object:
        yield from make_scenes(2, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "make_scenes", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_scenes(tmp_path / "made", train=5, validation=1, test=1, size=32)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "else.txt").touch()
    with pytest.raises(UserError, match="scenes cannot be written here"):
        write_scenes(tmp_path / "made", train=1, validation=1, test=1, size=32)
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
