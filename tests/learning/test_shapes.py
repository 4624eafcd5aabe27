"""Captions of unseen scenes are right, and a word that names a shape comes from where the shape is."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from regard import build
from regard.config import load_config
from regard.core.prediction import Prediction
from regard.data import Pair
from regard.predictor import Predictor, load
from regard.tasks.shapes import COLOURS, OUTLINES, cells_of
from regard.trainer import Trainer

SIZE = 64
GRID = (8, 8)


def boxes_by_picture(source: str) -> dict[str, list[dict[str, object]]]:
    """What is where in every scene, read from beside the folder of a picture."""
    lines = (Path(source).parent.parent / "shapes.jsonl").read_text().splitlines()
    return {scene["image"]: scene["shapes"] for scene in map(json.loads, lines)}


def centre(look: NDArray[np.float32]) -> int:
    """The cell in which the centre of a look (S) lies."""
    rows, columns = GRID
    weights = look.reshape(GRID) / look.sum()
    row = (weights.sum(1) * np.arange(rows)).sum()
    column = (weights.sum(0) * np.arange(columns)).sum()
    return round(row) * columns + round(column)


def named(word: str) -> str:
    """`stars` is about a star and `crosses` about a cross."""
    return next((kind for kind in OUTLINES if word in (kind, f"{kind}s", f"{kind}es")), word)


def looks(answer: Prediction, shapes: list[dict[str, object]]) -> list[bool]:
    """For each colour and kind that it says of a shape that stands alone: whether the look's centre is at that shape."""
    weights, words = answer.attention.cross(), answer.text.split()
    found = []
    for at, word in enumerate(words):
        key = "colour" if word in COLOURS else "kind" if named(word) in OUTLINES else None
        if key is None:
            continue
        colour = words[at] if key == "colour" else words[at - 1]
        kind = named(words[at + 1] if key == "colour" else word)
        boxes = [shape["box"] for shape in shapes if (shape["colour"], shape["kind"]) == (colour, kind)]
        if len(boxes) == 1:
            found.append(bool(cells_of(tuple(boxes[0]), GRID, SIZE)[centre(weights[at])]))
    return found
