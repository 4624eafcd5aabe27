"""What every drawing of looks at a picture needs: the looks of words, and a look as light on the picture."""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.core.prediction import AttentionRecord
from regard.viewing.labels import labels, ordinary, plain

Pixels = NDArray[np.uint8]  # H W 3
Picture = Pixels | str  # or why it cannot be seen

SHADE, SHADE_DEPTH = (16, 19, 27), 0.82  # where nobody looked; the page has the same in assets/picture.js

_PAPER = 222  # in the place of a picture that cannot be seen
_LONGEST_NAME = 80


@dataclass(frozen=True)
class Looks:
    """For each word of a caption where it looked: of all layers and heads, or of one matrix."""

    names: tuple[str, ...]
    weights: NDArray[np.float32]  # ... T S
    marks: tuple[bool, ...]  # which of them are no words

    def of_words(self) -> "Looks":
        """Without the marks."""
        kept = [at for at, mark in enumerate(self.marks) if not mark]
        return Looks(tuple(self.names[at] for at in kept), self.weights[..., kept, :], (False,) * len(kept))

    def maps(self, grid: tuple[int, int]) -> NDArray[np.float64]:
        """... T h w; nothing where a weight is not a number."""
        return np.nan_to_num(self.weights.astype(np.float64)).reshape(*self.weights.shape[:-1], *grid)


def looks_of(record: AttentionRecord, weights: NDArray[np.float32], *, hide_special: bool = False) -> Looks:
    """By words where they are known: a word looked where its pieces did, on average. Cells stay cells."""
    names, words = record.target_pieces, record.target_words
    if words is not None:
        names, weights = words.names(names), words.means() @ weights
    text = set(ordinary(names).tolist())
    looks = Looks(labels(names), weights, tuple(at not in text for at in range(len(names))))
    return looks.of_words() if hide_special else looks


def smooth(look: NDArray[np.float64], high: int, wide: int) -> NDArray[np.float64]:
    """A look, h w, without edges on so many pixels, from 0 to 1 where it is strongest."""
    down, across = _spread(look.shape[0], high), _spread(look.shape[1], wide)
    soft = down @ look @ across.T  # H W
    largest = soft.max()
    bright: NDArray[np.float64] = soft / largest if largest > 0 else soft
    return bright


def lit(picture: Pixels, look: NDArray[np.float64]) -> Pixels:
    """The picture in the light of a look: as it is where the look is strongest, dark where there is none."""
    light = 1 - SHADE_DEPTH * (1 - smooth(look, *picture.shape[:2]))[..., None]  # H W 1
    return np.rint(picture * light + np.array(SHADE) * (1 - light)).astype(np.uint8)


def ground(picture: Picture, *, side: int = 128) -> Pixels:
    """The picture, or paper in its place."""
    return np.full((side, side, 3), _PAPER, np.uint8) if isinstance(picture, str) else picture


def png(picture: Pixels) -> bytes:
    from matplotlib import image

    stream = io.BytesIO()
    image.imsave(stream, np.ascontiguousarray(picture), format="png")
    return stream.getvalue()


def called(source: str) -> str:
    """The name of a picture; what is inside a data URL is none."""
    if source[:5].lower() == "data:":
        return "a picture"
    return plain(source if len(source) <= _LONGEST_NAME else "…" + source[1 - _LONGEST_NAME :])


def _spread(cells: int, pixels: int) -> NDArray[np.float64]:
    """pixels cells, a row sums to one: how much each cell shines on a pixel.

    At the centre of a cell it is that cell alone; between two it passes over from one to the other.
    """
    places = ((np.arange(pixels) + 0.5) * cells / pixels - 0.5).clip(0, cells - 1)
    spread: NDArray[np.float64] = (1 - np.abs(places[:, None] - np.arange(cells))).clip(min=0)
    return spread
