import re
from pathlib import Path

import numpy as np
import pytest

from regard.data import pictures
from regard.layers.backbones import BACKBONES
from regard.tasks import shapes

PAGE = (Path(__file__).parent.parent.parent / "docs/captions.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"## ([\w ]+)\n(?:(?!\n## ).)*?```python\n(.*?)```", PAGE, re.DOTALL))


def test_the_page_lists_every_backbone_with_its_map() -> None:
    rows = dict(
        re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", PAGE.partition("## Backbones")[2], re.MULTILINE)
    )
    assert set(BACKBONES) <= set(rows)
    for name in (name for name in BACKBONES if name.startswith("efficientnet")):
        backbone = BACKBONES[name](pretrained=False)
        assert rows[name] == " × ".join(map(str, (*backbone.grid, backbone.width)))
        assert f"{backbone.size} pixels" in PAGE


def test_the_page_tells_the_limits_and_formats_of_pictures() -> None:
    assert f"{pictures.MOST_PIXELS // 10**6} million pixels" in PAGE
    assert f"{pictures.MOST_URL_BYTES // 10**6} million bytes" in PAGE
    assert all(name in PAGE for name in pictures.FORMATS)
    assert all(f"`{fit}`" in PAGE for fit in pictures.FITS)


def test_the_code_about_pictures_and_scenes_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (30, 20), "red").save("dog.jpg")
    made: dict[str, object] = {}
    exec(BLOCKS["Pictures"], made)
    assert np.shape(made["square"]) == (3, 224, 224)
    exec(BLOCKS["Scenes of shapes"].replace("4000", "4").replace("500", "2"), made)
    folder = made["folder"]
    assert isinstance(folder, Path)
    assert sorted(path.name for path in folder.iterdir()) == [
        "captions.tsv", "images", "shapes.jsonl", "test.txt", "train.txt", "val.txt",
    ]  # fmt: skip
    assert len(shapes.COLOURS) == 6
    assert len(shapes.OUTLINES) == 5
