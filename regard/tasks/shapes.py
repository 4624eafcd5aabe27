"""Pictures of coloured shapes with captions that say what is in them: to see whether attention looks where it should.

The caption is a function of the picture: one right answer, from left to right or from above.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.data.cache import cache_folder
from regard.data.workshop import publish, workshop

Box = tuple[int, int, int, int]  # left, top, right, bottom in pixels; the last two are outside
Point = tuple[float, float]

COLOURS = {
    "red": (214, 40, 40),
    "green": (40, 150, 60),
    "blue": (40, 80, 210),
    "yellow": (240, 200, 30),
    "purple": (140, 50, 160),
    "black": (25, 25, 25),
}
SMALLEST = 32  # pixels a side

_PAPERS = (255, 246, 236, 226)  # how light the ground is
_FINER = 4  # drawn so many times as large first, for smooth edges
_MADE = "2"  # a new number when the same seed draws other scenes
_GAP = 0.04  # between shapes, of the side of the picture


@dataclass(frozen=True)
class Shape:
    kind: str
    colour: str
    box: Box

    def __str__(self) -> str:
        return f"{self.colour} {self.kind}"

    @property
    def plural(self) -> str:
        return f"{self}es" if self.kind.endswith("s") else f"{self}s"


@dataclass(frozen=True)
class Scene:
    """A picture, what is right to say of it, and where its shapes are."""

    picture: NDArray[np.uint8] = field(repr=False)  # H W 3
    caption: str
    shapes: tuple[Shape, ...]


def make_scenes(number: int, *, size: int = 64, seed: int = 1) -> Iterator[Scene]:
    """So many scenes, no two alike. The seed decides everything; more of them begin with the same ones."""
    if size < SMALLEST:
        raise UserError(f"Scenes of shapes need {SMALLEST} pixels a side or more, not {size}.")
    random = Random(f"{seed} scenes")
    known: set[tuple[Shape, ...]] = set()
    while len(known) < number:
        caption, shapes = random.choice(list(LAYOUTS.values()))(random, size)
        paper = random.choice(_PAPERS)
        if shapes not in known:
            known.add(shapes)
            yield Scene(_drawn(shapes, paper, size), caption, shapes)


def write_scenes(
    folder: Path | None = None,
    *,
    train: int = 4000,
    validation: int = 500,
    test: int = 500,
    size: int = 64,
    seed: int = 1,
) -> Path:
    """A folder of scenes, made once: images/, captions.tsv, train.txt, val.txt, test.txt and shapes.jsonl.

    In Regard's cache folder unless told otherwise. It appears whole or not at all, and no two parts share a picture.
    """
    parts = {"train": train, "val": validation, "test": test}
    name = "-".join(map(str, (_MADE, size, *parts.values(), seed)))
    folder = folder or cache_folder() / "scenes" / name
    if (folder / "captions.tsv").exists():
        return folder
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder}: scenes cannot be written here (something else is in it).")
    try:
        with workshop(folder.parent) as room:
            _write(room, make_scenes(sum(parts.values()), size=size, seed=seed), parts)
            publish(room, folder, lambda home: (home / "captions.tsv").exists())
    except OSError as error:
        raise UserError(f"{folder}: scenes cannot be written here ({error.strerror or error}).") from error
    return folder


def cells_of(box: Box, grid: tuple[int, int], size: int) -> NDArray[np.bool_]:
    """h·w, row by row: the cells of a grid over the picture that a box touches."""
    left, top, right, bottom = box
    (high, wide) = grid
    rows = np.arange(high) * size / high  # h, where each begins
    columns = np.arange(wide) * size / wide
    down = (rows < bottom) & (rows + size / high > top)
    across = (columns < right) & (columns + size / wide > left)
    return np.outer(down, across).ravel()


# ---- what is in a scene and what is said of it

Layout = Callable[[Random, int], tuple[str, tuple[Shape, ...]]]


def _one(random: Random, size: int) -> tuple[str, tuple[Shape, ...]]:
    """A small red circle."""
    word, sides = random.choice((("small", (0.16, 0.24)), ("large", (0.4, 0.56))))
    (shape,) = _shapes(_different(random, 1), _scattered(random, size, 1, sides))
    return f"a {word} {shape}", (shape,)


def _pair(random: Random, size: int) -> tuple[str, tuple[Shape, ...]]:
    return _row(random, size, 2, (0.22, 0.36))


def _three(random: Random, size: int) -> tuple[str, tuple[Shape, ...]]:
    return _row(random, size, 3, (0.18, 0.25))


def _same(random: Random, size: int) -> tuple[str, tuple[Shape, ...]]:
    """Two green triangles."""
    number = random.choice((2, 3))
    looks = _different(random, 1) * number
    shapes = _shapes(looks, _scattered(random, size, number, (0.18, 0.28)))
    return f"{_counted(number)} {shapes[0].plural}", shapes


def _two_and_one(random: Random, size: int) -> tuple[str, tuple[Shape, ...]]:
    """Two red stars and a blue square."""
    twice, once = _different(random, 2)
    shapes = _shapes([twice, twice, once], _scattered(random, size, 3, (0.18, 0.28)))
    return f"two {shapes[0].plural} and a {shapes[2]}", shapes


LAYOUTS: dict[str, Layout] = {
    "one": _one,
    "pair": _pair,
    "three": _three,
    "same": _same,
    "two_and_one": _two_and_one,
}


def _row(random: Random, size: int, number: int, sides: tuple[float, float]) -> tuple[str, tuple[Shape, ...]]:
    """A red circle left of a blue square, or above it."""
    upright = random.random() < 0.5
    boxes = _in_a_row(random, size, number, sides)
    shapes = _shapes(_different(random, number), [_turned(box) for box in boxes] if upright else boxes)
    relation = "above" if upright else "left of"
    return f" {relation} ".join(f"a {shape}" for shape in shapes), shapes


def _different(random: Random, number: int) -> list[tuple[str, str]]:
    """Kinds and colours of shapes that nobody takes for each other."""
    return random.sample([(kind, colour) for kind in OUTLINES for colour in COLOURS], number)


def _shapes(looks: Iterable[tuple[str, str]], boxes: Iterable[Box]) -> tuple[Shape, ...]:
    return tuple(Shape(kind, colour, box) for (kind, colour), box in zip(looks, boxes, strict=True))


def _counted(number: int) -> str:
    return {2: "two", 3: "three"}[number]


# ---- where shapes are


def _in_a_row(random: Random, size: int, number: int, sides: tuple[float, float]) -> list[Box]:
    """From left to right, each in its own part of the picture, and at least twice as far apart as above each other."""
    while True:
        boxes = []
        for place in range(number):
            side = round(size * random.uniform(*sides))
            start, end = round(place * size / number), round((place + 1) * size / number)
            gap = round(size * _GAP / 2)
            left = random.randint(start + gap, max(start + gap, end - gap - side))
            top = random.randint(0, size - side)
            boxes.append((left, top, left + side, top + side))
        centres = [((left + right) / 2, (top + bottom) / 2) for left, top, right, bottom in boxes]
        if all(abs(b[1] - a[1]) <= (b[0] - a[0]) / 2 for a, b in pairwise(centres)):
            return boxes


def _turned(box: Box) -> Box:
    left, top, right, bottom = box
    return top, left, bottom, right


def _scattered(random: Random, size: int, number: int, sides: tuple[float, float]) -> list[Box]:
    """Anywhere, but apart."""
    boxes: list[Box] = []
    gap = size * _GAP
    while len(boxes) < number:
        side = round(size * random.uniform(*sides))
        left, top = random.randint(0, size - side), random.randint(0, size - side)
        right, bottom = left + side, top + side
        if all(
            right + gap <= other[0]
            or other[2] + gap <= left
            or bottom + gap <= other[1]
            or other[3] + gap <= top
            for other in boxes
        ):
            boxes.append((left, top, right, bottom))
    return boxes


# ---- drawing


def _star() -> list[Point]:
    """Five points, as large as their box."""
    turns = [math.pi * (at / 5 - 0.5) for at in range(10)]
    ends = [
        (math.cos(turn) * radius, math.sin(turn) * radius)
        for turn, radius in zip(turns, (1, 0.45) * 5, strict=True)
    ]
    lows, highs = np.min(ends, axis=0), np.max(ends, axis=0)
    return [(float(x), float(y)) for x, y in (np.array(ends) - lows) / (highs - lows)]


def _cross() -> list[Point]:
    near, far = 0.33, 0.67
    quarter = [(near, near), (near, 0.0), (far, 0.0)]
    turns: list[Callable[[Point], Point]] = [
        lambda at: at,
        lambda at: (1 - at[1], at[0]),
        lambda at: (1 - at[0], 1 - at[1]),
        lambda at: (at[1], 1 - at[0]),
    ]
    return [turn(at) for turn in turns for at in quarter]


OUTLINES: dict[str, Sequence[Point]] = {
    "circle": [(0.5 + math.cos(turn) / 2, 0.5 + math.sin(turn) / 2) for turn in np.linspace(0, math.tau, 60)],
    "square": [(0, 0), (1, 0), (1, 1), (0, 1)],
    "triangle": [(0.5, 0), (1, 1), (0, 1)],
    "star": _star(),
    "cross": _cross(),
}  # in a box of one by one


def _drawn(shapes: Iterable[Shape], paper: int, size: int) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (size * _FINER,) * 2, (paper,) * 3)
    pen = ImageDraw.Draw(image)
    for shape in shapes:
        left, top, right, bottom = (side * _FINER for side in shape.box)
        corners = [
            (left + x * (right - left - 1), top + y * (bottom - top - 1)) for x, y in OUTLINES[shape.kind]
        ]
        pen.polygon(corners, fill=COLOURS[shape.colour])
    return np.asarray(image.reduce(_FINER))


# ---- files


def _write(folder: Path, scenes: Iterator[Scene], parts: dict[str, int]) -> None:
    from PIL import Image

    (folder / "images").mkdir(parents=True)
    captions: list[str] = []
    shapes: list[str] = []
    for part, number in parts.items():
        names = []
        for scene in islice(scenes, number):
            names.append(name := f"{len(shapes):06}.png")
            Image.fromarray(scene.picture).save(folder / "images" / name)
            captions.append(f"{name}\t{scene.caption}\n")
            shapes.append(json.dumps({"image": name, "shapes": list(map(asdict, scene.shapes))}) + "\n")
        (folder / f"{part}.txt").write_text("".join(f"{name}\n" for name in names))
    (folder / "captions.tsv").write_text("".join(captions))
    (folder / "shapes.jsonl").write_text("".join(shapes))
