"""Predictions become pictures: heat map, tree of a beam, curves, lines, stand-alone page, letters for a terminal.

Importing this package is light: matplotlib is loaded when the first picture is drawn.
"""

from regard.viewing.attention_map import TextView
from regard.viewing.curves import curves
from regard.viewing.document import as_document
from regard.viewing.fragment import fragment
from regard.viewing.heatmap import heatmap
from regard.viewing.lines import lines
from regard.viewing.page import page
from regard.viewing.paths import PathView
from regard.viewing.pictures import PictureView
from regard.viewing.saving import save, save_figure
from regard.viewing.terminal import terminal
from regard.viewing.tree_figure import tree_figure

__all__ = [
    "PathView",
    "PictureView",
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
    "tree_figure",
]
