import base64
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard import build
from regard.config import Config, parse_config
from regard.core.errors import UserError
from regard.core.prediction import Request
from regard.tasks.captions import PictureCodec


def config(folder: Path) -> Config:
    return parse_config(
        {
            "task": {"name": "captions", "folder": str(folder)},
            "data": {"validation_size": 2, "test_size": 2, "max_target": 5},
            "text": {"target": {"kind": "words"}},
            "model": {"encoder": {"kind": "picture", "size": 16, "stages": 2, "width": 16}},
        },
        origin="a test",
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    lines = []
    for number in range(9):
        grey = np.full((20, 20, 3), 25 * number, dtype=np.uint8)
        Image.fromarray(grey).save(tmp_path / f"images/{number}.png")
        lines += [
            f"{number}.png\tpicture number {number}",
            f"{number}.png\ta grey of {number} or so and so on",
        ]
    (tmp_path / "captions.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_without_lists_pictures_are_split_and_each_is_asked_once(folder: Path) -> None:
    examples = build.task(config(folder)).examples()
    parts = [
        {pair.source for pair in pairs} for pairs in (examples.train(), examples.validation, examples.test)
    ]
    assert [len(part) for part in parts] == [7, 1, 1]  # two captions make one picture
    assert len(set.union(*parts)) == 9
    cases = examples.cases(examples.test)
    assert [len(case.targets) for case in cases] == [2]


def codec(folder: Path) -> PictureCodec:
    found = build.learn_codec(config(folder), build.task(config(folder)).examples())
    assert isinstance(found, PictureCodec)
    return found


def test_captions_of_one_picture_share_it_and_long_ones_are_left_out(folder: Path, tmp_path: Path) -> None:
    examples = build.task(config(folder)).examples()
    store = codec(folder).store(tmp_path / "cache/stores", examples.train)
    assert str(store.report) == "7 of 14 pairs (left out: 7 with a target too long)"
    batch = store.batch([0, 3])
    assert batch.source.pixels.shape == (2, 3, 16, 16)  # type: ignore[union-attr]


def test_a_stranger_gives_pictures_and_no_paths(folder: Path) -> None:
    path = folder / "images/3.png"
    url = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
    own = codec(folder)
    guarded = own.guarded()
    by_path, by_url = own.read([Request(str(path)), Request(url)])
    np.testing.assert_array_equal(by_path.seen, by_url.seen)  # type: ignore[union-attr]
    refused, seen = guarded.read([Request(str(path)), Request(url)])
    assert isinstance(refused, UserError)
    assert "data URL" in str(refused)
    np.testing.assert_array_equal(seen.seen, by_url.seen)  # type: ignore[union-attr]


def test_its_example_can_be_read_and_what_it_cannot_do_is_told(folder: Path) -> None:
    own = codec(folder)
    (read,) = own.guarded().read([Request(own.example)])
    assert len(read) == 16  # type: ignore[arg-type]
    with pytest.raises(UserError, match="one language"):
        own.check(Request("x", to="de"))
