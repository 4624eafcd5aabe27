"""Small models whose sources are pictures or series, and batches for them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from small import VOCABULARY, batch

from regard import build
from regard.config import parse_config
from regard.core.batch import Batch, Pictures, Sensed, Source, Vectors
from regard.models import Seq2Seq

WIDTH = 16
BLOCKS = {"width": WIDTH, "layers": 2, "heads": 2, "feed_forward": 32}
POINT, READING = 2, 3  # values of a point and of what stands beside it


@dataclass(frozen=True)
class Other:
    """A model and what it reads."""

    task: dict[str, Any]
    model: dict[str, Any]
    sizes: dict[str, int]
    examples: Callable[[], Batch]

    def __call__(self) -> Seq2Seq:
        torch.manual_seed(0)
        document = {"task": self.task, "model": {"embedding": WIDTH, "dropout": 0.0, **self.model}}
        return build.model(parse_config(document, origin="a test"), self.sizes).eval()


def pictures() -> Batch:
    pixels = torch.randint(256, (4, 3, 16, 16), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    return Batch(Pictures(pixels), batch().target)


def features() -> Batch:
    """Of a grid of two rows and three columns."""
    seen = torch.randn(4, 6, 12, generator=torch.Generator().manual_seed(1))
    return Batch(Vectors(seen, torch.full((4,), 6)), batch().target)


def series() -> Batch:
    """Observed and to come, of different lengths and with something missing on both sides."""
    random = np.random.default_rng(1)
    sources = [random.normal(size=(length, POINT)) for length in (5, 2, 7, 1)]
    targets = [random.normal(size=(length, POINT)) for length in (3, 4, 2, 3)]
    sources[0][2, 1] = targets[1][0, 0] = np.nan
    return Batch(Vectors.pad(sources), Vectors.pad(targets))


def sensed() -> Batch:
    random = np.random.default_rng(2)
    beside = [random.normal(size=(length, READING)) for length in (4, 1, 3, 6)]
    plain = series()
    assert isinstance(plain.source, Vectors)
    return Batch(Sensed(plain.source, Vectors.pad(beside)), plain.target)


def some_of(source: Source, rows: list[int]) -> Source:
    """These rows without the padding that the others made."""
    match source:
        case Pictures():
            return Pictures(source.pixels[rows])
        case Sensed():
            own, beside = some_of(source.series, rows), some_of(source.context, rows)
            assert isinstance(own, Vectors)
            assert isinstance(beside, Vectors)
            return Sensed(own, beside)
        case Vectors():
            lengths = source.lengths[rows]
            return Vectors(source.values[rows, : int(lengths.max())], lengths)
        case _:
            raise AssertionError(source)


SHOWN = {"kind": "picture", "backbone": "small_cnn", "size": 16, "stages": 2, "width": WIDTH}
PATCHES = {"kind": "picture", "backbone": "patches", "size": 16, "patch": 8, "width": WIDTH}
KEPT = {"kind": "picture", "backbone": "efficientnet_lite0", "trained": False, "width": WIDTH}
XU = {"cell": "lstm", "width": WIDTH, "bridge": "mean", "readout": "deep"}
TOLD = {"source": 3, "rows": 4, "columns": 4, "target": VOCABULARY}
CAPTIONS = {"name": "captions"}
AHEAD, ALONE = {"name": "forecast"}, {"name": "forecast", "context": False}
SIZES = {"source": POINT, "target": POINT, "context": READING}
BESIDE = {"encoder": {"width": WIDTH}, "attention": {"heads": 2}}
RECURRENT = {"width": WIDTH}
SMALL: dict[str, Any] = {"encoder": RECURRENT, "decoder": RECURRENT}

OTHERS: dict[str, Other] = {
    "picture, soft": Other(
        CAPTIONS, {"encoder": SHOWN, "decoder": XU, "attention": {"gated": True}}, TOLD, pictures
    ),
    "picture, hard": Other(
        CAPTIONS,
        {"encoder": SHOWN, "decoder": XU, "attention": {"gated": True, "selection": "hard"}},
        TOLD,
        pictures,
    ),
    "picture, transformer": Other(
        CAPTIONS,
        {"encoder": PATCHES, "decoder": {"kind": "transformer", **BLOCKS}, "attention": {"heads": 2}},
        TOLD,
        pictures,
    ),
    "picture, patches that look at each other": Other(
        CAPTIONS,
        {"encoder": {**PATCHES, "layers": 2, "heads": 2, "feed_forward": 32}, "decoder": RECURRENT},
        TOLD,
        pictures,
    ),
    "features": Other(
        CAPTIONS,
        {"encoder": KEPT, "decoder": RECURRENT},
        {"source": 12, "rows": 2, "columns": 3, "target": VOCABULARY},
        features,
    ),
    "series": Other(ALONE, SMALL, SIZES, series),
    "series, without attention": Other(ALONE, {**SMALL, "attention": {"score": "none"}}, SIZES, series),
    "series, fed, huber": Other(
        ALONE,
        {
            "encoder": RECURRENT,
            "decoder": {"kind": "step_then_look_fed", **RECURRENT},
            "points": {"kind": "huber"},
        },
        SIZES,
        series,
    ),
    "series, transformer, gaussian": Other(
        ALONE,
        {
            "encoder": {"kind": "transformer", **BLOCKS},
            "decoder": {"kind": "transformer", **BLOCKS},
            "attention": {"heads": 2},
            "points": {"kind": "gaussian"},
        },
        SIZES,
        series,
    ),
    "series, convolutional": Other(
        ALONE,
        {
            "encoder": {"kind": "convolutional", "width": WIDTH, "layers": 2},
            "decoder": {"kind": "convolutional", "width": WIDTH, "layers": 2},
        },
        SIZES,
        series,
    ),
    "series, one stream": Other(
        ALONE,
        {"encoder": {"kind": "transformer", **BLOCKS}, "decoder": {"kind": "stream"}},
        SIZES,
        series,
    ),
    "context, mixture": Other(
        AHEAD, {**SMALL, "context": BESIDE, "points": {"kind": "mixture"}}, SIZES, sensed
    ),
    "context, transformer": Other(
        AHEAD,
        {
            "encoder": {"kind": "transformer", **BLOCKS},
            "decoder": {"kind": "transformer", **BLOCKS},
            "attention": {"heads": 2},
            "context": BESIDE,
        },
        SIZES,
        sensed,
    ),
}
