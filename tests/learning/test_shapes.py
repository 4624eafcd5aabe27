"""Captions of unseen scenes are right, and a word that names a shape comes from where that shape is.

By scenes of one or two shapes, which are learned in a minute or two; the recipe `shapes` has more of them.
"""

from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from regard.build import config_from
from regard.config import Config, load_config
from regard.core.prediction import Prediction
from regard.predictor import load
from regard.tasks.shapes import COLOURS, OUTLINES, Scene, Shape, cells_of, make_scenes
from regard.trainer import Trainer

SIZE, GRID = 64, (8, 8)
PARTS = {"train": 6000, "val": 40, "test": 300}
SMALL = (
    "training.batch_tokens=960",  # 15 scenes
    "training.tensorboard=false",
    "training.samples=0",
    "evaluation.at_end=false",
)


def simple_scenes() -> Iterator[Scene]:
    """One shape, or two different ones."""
    for scene in make_scenes(10**6, size=SIZE, seed=7):
        if len(scene.shapes) <= 2 and len(set(map(str, scene.shapes))) == len(scene.shapes):
            yield scene


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures, captions and lists, as a person has them."""
    found = tmp_path_factory.mktemp("scenes")
    (found / "images").mkdir()
    scenes, lines = simple_scenes(), []
    for part, number in PARTS.items():
        names = [f"{part}-{at}.png" for at in range(number)]
        for name, scene in zip(names, islice(scenes, number), strict=True):
            Image.fromarray(scene.picture).save(found / "images" / name)
            lines.append(f"{name}\t{scene.caption}\n")
        (found / f"{part}.txt").write_text("\n".join(names) + "\n")
    (found / "captions.tsv").write_text("".join(lines))
    return found


@pytest.fixture(scope="module")
def unseen() -> list[Scene]:
    return list(islice(simple_scenes(), sum(PARTS.values()) - PARTS["test"], sum(PARTS.values())))


def of(folder: Path, steps: int) -> list[str]:
    whole = [f"training.{name}={steps}" for name in ("steps", "validate_every", "save_every")]
    return [*SMALL, f"task.folder={folder}", *whole]


def trained(config: Config, run: Path) -> Path:
    for _ in Trainer(config, run).events():
        pass
    return run


def answers(run: Path, folder: Path) -> list[Prediction]:
    names = [f"test-{at}.png" for at in range(PARTS["test"])]
    return load(run).predict([str(folder / "images" / name) for name in names])


def share_right(said: list[Prediction], unseen: list[Scene]) -> float:
    return float(np.mean([one.text == scene.caption for one, scene in zip(said, unseen, strict=True)]))


def centre(look: NDArray[np.float32]) -> int:
    """The cell in which the centre of a look (S) lies."""
    weights = look.reshape(GRID) / look.sum()
    row, column = ((weights.sum(1 - axis) * np.arange(GRID[axis])).sum() for axis in (0, 1))
    return round(row) * GRID[1] + round(column)


def share_there(said: list[Prediction], unseen: list[Scene]) -> float:
    """Of the looks for a colour or a kind that is in the picture, those whose centre is in a cell of that shape."""
    there = [
        cells_of(shape.box, GRID, SIZE)[centre(look)]
        for one, scene in zip(said, unseen, strict=True)
        for look, shape in named(one, scene.shapes)
    ]
    assert len(there) > 2 * len(unseen)
    return float(np.mean(there))


def named(said: Prediction, shapes: tuple[Shape, ...]) -> Iterator[tuple[NDArray[np.float32], Shape]]:
    """The look of every word that names a shape's colour or kind, and the shape."""
    words = said.text.split()
    for at, (colour, kind) in enumerate(pairwise(words)):
        for shape in shapes if colour in COLOURS and kind in OUTLINES else ():
            if (shape.colour, shape.kind) == (colour, kind):
                yield from ((look, shape) for look in said.attention.cross()[at : at + 2])


def test_soft_looks_and_hard_ones_after_them_tell_what_is_there_and_fall_where_it_is(
    folder: Path, unseen: list[Scene]
) -> None:
    soft = trained(load_config("shapes", of(folder, 1600)), folder / "soft")
    said = answers(soft, folder)
    assert share_right(said, unseen) >= 0.95
    assert share_there(said, unseen) >= 0.8

    changes = ["model.attention.selection=hard", "training.learning_rate=5e-4", "training.warmup=20"]
    hard = trained(config_from("shapes", [*of(folder, 400), *changes], soft), folder / "hard")
    said = answers(hard, folder)
    assert set(np.unique(said[0].attention.cross())) == {0.0, 1.0}
    assert share_right(said, unseen) >= 0.9
    assert share_there(said, unseen) >= 0.8
