"""What every figure needs of matplotlib: letters for any script, the colour scale, bytes. Never pyplot."""

import io
import threading
import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, cast

import matplotlib
import numpy as np
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from regard.viewing.colours import BAD, ramp

BASE_FONT = "DejaVu Sans"  # comes with matplotlib

# Asked before all other installed fonts when the base font has no glyph for a letter.
_PREFERRED_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "Arial Unicode MS",
    "Noto Sans",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Noto Emoji",
)
_settings_lock = threading.Lock()  # matplotlib's settings belong to the whole process


def new_figure() -> tuple[Figure, Any]:
    """An empty white figure and the renderer that measures its texts."""
    figure = Figure(figsize=(4, 3), dpi=100, facecolor="white")
    return figure, FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]


def scale() -> Colormap:
    return ListedColormap(ramp(np.linspace(0, 1, 256)).tolist(), name="regard").with_extremes(bad=BAD)


class Lettering:
    """Makes texts in a font that has their letters. No text is ever read as a formula."""

    def __init__(self, texts: Iterable[str]) -> None:
        needed = frozenset("".join(texts)) - _glyphs(font_manager.findfont(BASE_FONT)) - {"\n"}
        extra, self.missing = _fonts_for(needed) if needed else ((), frozenset[str]())
        self.families = [BASE_FONT, *extra, "sans-serif"]  # the last for readers of an SVG without these

    def text(self, x: float, y: float, words: str, **properties: Any) -> Text:
        kind = _QuietText if self.missing.intersection(words) else Text
        return kind(x, y, words, family=self.families, parse_math=False, usetex=False, **properties)


def extent(text: Text, renderer: Any) -> tuple[float, float]:
    """Width and height of a text in inches."""
    box = text.get_window_extent(renderer)
    dpi = cast(Figure, text.get_figure(root=True)).dpi
    return box.width / dpi, box.height / dpi


def png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150)
    return stream.getvalue()


def svg(figure: Figure) -> bytes:
    """Vectors, with texts that stay texts: they can be searched, copied and read aloud."""
    stream = io.BytesIO()
    with _settings_lock, matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "regard"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Title": "Attention"})
    return stream.getvalue()


class _QuietText(Text):
    """A text with letters that no installed font has: they become boxes, without a warning each."""

    def draw(self, renderer: Any) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            super().draw(renderer)

    def get_window_extent(self, renderer: Any = None, dpi: float | None = None) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            return super().get_window_extent(renderer, dpi)


@lru_cache(maxsize=1024)
def _glyphs(path: str) -> frozenset[str]:
    """The characters a font can draw; none when it cannot be used (bitmap fonts)."""
    try:
        font = FT2Font(path)
        font.set_size(10, 72)
    except (RuntimeError, OSError):
        return frozenset()
    return frozenset(map(chr, font.get_charmap()))


@lru_cache(maxsize=256)
def _fonts_for(needed: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Installed families that together have the letters, and the letters that none has."""
    installed = {
        entry.name: str(entry.fname)
        for entry in reversed(font_manager.fontManager.ttflist)
        if entry.style == "normal" and entry.weight in (400, "normal", "regular") and "Last" not in entry.name
    }
    candidates = [name for name in _PREFERRED_FONTS if name in installed]
    candidates += sorted(set(installed) - set(candidates))
    chosen = []
    for name in candidates:
        found = needed & _glyphs(installed[name])
        if found:
            chosen.append(name)
            needed -= found
        if not needed:
            break
    return tuple(chosen), needed
