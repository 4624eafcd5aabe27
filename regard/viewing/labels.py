"""How a piece is written down so that it can be seen: blanks, control characters and all."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.core.pieces import MARKS

NO_LOOKS = "No attention to draw: none was recorded, or this model has none."

LONGEST = 32  # a longer label loses its middle

_VISIBLE = {" ": "␣", "\n": "↵", "\t": "⇥"}
_JOINERS = "\u200c\u200d"  # belong inside Persian words and emoji; alone they are invisible
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}


def label(piece: str) -> str:
    """The piece with nothing invisible left in it: `" a\\x1b"` becomes `"␣a\\\\x1b"`."""
    if not piece:
        return "∅"
    if unicodedata.category(piece[0]).startswith("M"):
        piece = "◌" + piece  # a combining mark needs something to stand on
    shown = "".join(_visible(character, alone=len(piece) == 1) for character in piece)
    if len(shown) > LONGEST:
        shown = shown[: LONGEST - 8] + "…" + shown[-7:]
    return shown


def plain(text: str) -> str:
    """A running text on one line: blanks stay blanks, what is invisible otherwise is spelt out."""
    return "".join(letter if letter == " " else _visible(letter, alone=False) for letter in text)


def labels(pieces: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(label, pieces))


def columns(name: str) -> int:
    """How many columns of a terminal, or letters of a monospaced font, a label is wide."""
    wide = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in name)
    return wide - sum(unicodedata.combining(letter) > 0 for letter in name)


@dataclass(frozen=True)
class Labelled:
    """A matrix with the labels of its columns and rows."""

    weights: NDArray[np.floating]  # T S
    across: tuple[str, ...]
    down: tuple[str, ...]

    @property
    def emptiness(self) -> str | None:
        """A sentence when there is nothing to draw."""
        if self.across and self.down:
            return None
        return f"Nothing to draw: the {'answer' if self.across else 'source'} has no pieces."


def labelled(
    weights: NDArray[np.floating],
    source_pieces: Sequence[str],
    target_pieces: Sequence[str],
    *,
    hide_special: bool = False,
) -> Labelled:
    """Rows and columns of special pieces are left out on request; the others keep their weights."""
    if hide_special:
        columns, rows = ordinary(source_pieces), ordinary(target_pieces)
        weights = weights[np.ix_(rows, columns)]
        source_pieces = [source_pieces[at] for at in columns]
        target_pieces = [target_pieces[at] for at in rows]
    return Labelled(weights, labels(source_pieces), labels(target_pieces))


def ordinary(pieces: Sequence[str]) -> NDArray[np.intp]:
    """The positions of the pieces that stand for text, an unknown one included."""
    return np.flatnonzero([piece not in MARKS for piece in pieces])


def _visible(character: str, *, alone: bool) -> str:
    if character in _VISIBLE:
        return _VISIBLE[character]
    if unicodedata.category(character) not in _HIDDEN or (character in _JOINERS and not alone):
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
