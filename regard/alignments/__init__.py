"""Hard alignments: which word belongs to which, read off attention, kept in files, scored against people's."""

from regard.alignments.agreement import agreement
from regard.alignments.links import (
    ALIGNERS,
    Aligner,
    Argmax,
    Links,
    Threshold,
    align,
    intersection,
    union,
    usual_layer,
    word_looks,
)
from regard.alignments.pharaoh import Gold, check_gold, read_gold, read_links, write_links, written

__all__ = [
    "ALIGNERS",
    "Aligner",
    "Argmax",
    "Gold",
    "Links",
    "Threshold",
    "agreement",
    "align",
    "check_gold",
    "intersection",
    "read_gold",
    "read_links",
    "union",
    "usual_layer",
    "word_looks",
    "write_links",
    "written",
]
