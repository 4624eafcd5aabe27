import base64
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from regard import build
from regard.config import Config, parse_config
from regard.core.errors import UserError
from regard.core.prediction import Request
from regard.layers.backbones import efficientnet
from regard.run import ModelFolder
from regard.tasks.captions import PictureCodec
from regard.tasks.sight import Seen, Sight


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


def test_pictures_that_a_list_holds_out_are_not_trained_on(folder: Path) -> None:
    (folder / "test.txt").write_text("3.png\n5.png\n")
    examples = build.task(config(folder)).examples()
    test = {Path(pair.source).name for pair in examples.test}
    train = {Path(pair.source).name for pair in examples.train()}
    validation = {Path(pair.source).name for pair in examples.validation}
    assert test == {"3.png", "5.png"}
    assert not test & (train | validation)
    assert len(train | validation) == 7


def test_lines_that_are_no_captions_are_passed_over_where_that_is_asked_for(folder: Path) -> None:
    with (folder / "captions.tsv").open("a") as file:
        file.write("gone.png\ta picture that is not there\n")
    with pytest.raises(UserError, match=r"line 19: there is no image 'gone\.png'"):
        build.task(config(folder)).examples()
    asked = config(folder)
    asked = asked.model_copy(update={"data": asked.data.model_copy(update={"on_bad_line": "skip"})})
    examples = build.task(asked).examples()
    assert any("without its image" in report for report in examples.reports())


def codec(folder: Path) -> PictureCodec:
    found = build.learn_codec(config(folder), build.task(config(folder)).examples())
    assert isinstance(found, PictureCodec)
    return found


def test_a_model_brings_the_network_that_sees_for_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package of its weights is needed for training alone."""
    settings = config(folder).model_dump()
    settings["model"]["encoder"] |= {
        "backbone": "efficientnet_lite0",
        "trained": False,
        "size": 32,
        "features": "middle",
    }
    frozen = parse_config(settings, origin="a test")
    codec = build.learn_codec(frozen, build.task(frozen).examples())
    codec.save(tmp_path)

    def missing(package: str) -> None:
        raise ModuleNotFoundError(package)

    monkeypatch.setattr(efficientnet, "files", missing)
    again = build.load_codec(frozen, ModelFolder(tmp_path))
    pixels = [np.random.default_rng(1).integers(0, 256, (3, 32, 32), dtype=np.uint8)]
    assert again.sight.see(pixels)[0].tobytes() == codec.sight.see(pixels)[0].tobytes()
    (tmp_path / "backbone.safetensors").write_bytes(b"no tensors")
    with pytest.raises(UserError, match=r"backbone\.safetensors is damaged"):
        build.load_codec(frozen, ModelFolder(tmp_path))


def test_captions_of_one_picture_share_it_and_long_ones_are_left_out(folder: Path, tmp_path: Path) -> None:
    examples = build.task(config(folder)).examples()
    store = codec(folder).store(tmp_path / "cache/stores", examples.train)
    assert str(store.report) == "7 of 14 pairs (left out: 7 with a target too long)"
    batch = store.batch([0, 3])
    assert batch.source.pixels.shape == (2, 3, 16, 16)  # type: ignore[union-attr]


def test_what_a_training_has_seen_is_not_looked_at_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, path = codec(folder), folder / "images/3.png"
    own.store(tmp_path / "cache/stores", build.task(config(folder)).examples().train)
    looked = []
    see = Sight.see
    monkeypatch.setattr(
        Sight, "see", lambda sight, pixels: (looked.append(len(pixels)), see(sight, pixels))[1]
    )
    known = [str(one) for one in sorted((folder / "images").iterdir()) if own.sight.known(str(one))]
    assert known
    again = own.read([Request(one) for one in known])
    assert sum(looked) == 0
    for path_of, one in zip(known, again, strict=True):
        np.testing.assert_array_equal(one.seen, own.sight.pixels(path_of))  # type: ignore[union-attr]
    Path(known[0]).write_bytes(path.read_bytes() + b"changed")
    own.read([Request(known[0])])
    assert sum(looked) == 1


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
    page = guarded.view.page(guarded.nothing(str(path), problem="refused"))
    assert "The picture cannot be seen any more. A picture is given as a data URL here" in page


def test_what_is_drawn_for_a_picture_does_not_depend_on_the_last_bit_of_what_is_seen(folder: Path) -> None:
    """A network sees a picture among others a little differently than alone."""
    own = codec(folder)
    other = replace(own, sight=Shaken(*(getattr(own.sight, one.name) for one in fields(Sight))))
    request = Request(str(folder / "images/3.png"))
    (one,), (another,) = own.read([request]), other.read([request])
    assert not np.array_equal(one.seen, another.seen)  # type: ignore[union-attr]
    assert one.name == another.name  # type: ignore[union-attr]


class Shaken(Sight):
    """Sees pictures with another last bit."""

    def see(self, pixels: Sequence[NDArray[np.uint8]]) -> list[Seen]:
        return [one ^ 1 for one in super().see(pixels)]


def test_its_example_can_be_read_and_what_it_cannot_do_is_told(folder: Path) -> None:
    own = codec(folder)
    (read,) = own.guarded().read([Request(own.example)])
    assert len(read) == 16  # type: ignore[arg-type]
    with pytest.raises(UserError, match="one language"):
        own.check(Request("x", to="de"))
