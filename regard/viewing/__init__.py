"""Predictions become pictures: heat map, training curves, named lines, stand-alone page, lines for a terminal.

Importing this package is light: matplotlib is loaded when the first picture is drawn.
"""

from regard.viewing.attention_map import TextView
from regard.viewing.curves import curves
from regard.viewing.document import as_document
from regard.viewing.fragment import fragment
from regard.viewing.heatmap import heatmap
from regard.viewing.lines import lines
from regard.viewing.page import page
from regard.viewing.saving import save, save_figure
from regard.viewing.terminal import terminal

__all__ = [
    "TextView",
    "as_document",
    "curves",
    "fragment",
    "heatmap",
    "lines",
    "page",
    "save",
    "save_figure",
    "terminal",
]
