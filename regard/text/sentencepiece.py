"""A vocabulary that SentencePiece learned, read from its `.model` file (Kudo & Richardson 2018)."""

import base64
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.core.errors import UserError
from regard.core.pieces import SPECIAL_PIECES, UNKNOWN
from regard.text.tokenizer import SPACE, Tokenizer, from_description

UNIGRAM, BPE = 1, 2  # kinds of model
NORMAL, UNKNOWN_PIECE, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)  # kinds of piece

# Where a text has the name of a piece that stands for no text, or for a byte, it is cut behind the name's first
# character: the library would find the whole name in the vocabulary.
_NAMES = "<(?=(?:" + "|".join(re.escape(name[1:]) for name in SPECIAL_PIECES) + "|0x[0-9A-F]{2}>))"
_STARTS = (*(name[:2] for name in SPECIAL_PIECES), "<0")

_CUT_NAMES = {
    "type": "Split",
    "pattern": {"Regex": _NAMES},
    "behavior": "MergedWithPrevious",
    "invert": False,
}

_ALL = 2**16  # spaces, more than any text begins with


def read(path: Path) -> Tokenizer:
    """Encodes to the pieces that SentencePiece itself gives; those without a text make room for the special ones.

    Of several cuts that a unigram model finds equally likely, it may take another one: SentencePiece rounds its sums.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(
            f"{path}: the SentencePiece model cannot be read ({error.strerror or error})."
        ) from error
    try:
        model = _Model.parse(data)
    except (ValueError, TypeError, AttributeError, LookupError, struct.error) as error:
        raise UserError(
            f"{path}: this is not a SentencePiece model. Give the .model file that its training wrote."
        ) from error
    if problem := model.problem:
        raise UserError(f"{path}: this SentencePiece model cannot be used: {problem}.")
    return from_description(model.description())


@dataclass(frozen=True)
class _Piece:
    text: str
    score: float
    kind: int


@dataclass(frozen=True)
class _Model:
    """What of a `ModelProto` matters here."""

    pieces: list[_Piece]
    kind: int
    characters: bytes  # the compiled rules of normalization
    composes: bool  # whether they make one character of a letter and its marks
    begins_with_space: bool
    strips: bool  # spaces at both ends, and all but one of several
    escapes: bool
    ends_with_space: bool
    denormalizes: bool

    @staticmethod
    def parse(data: bytes) -> "_Model":
        pieces: list[_Piece] = []
        parts: dict[int, dict[int, Any]] = {2: {}, 3: {}, 5: {}}  # trainer, normalizer, denormalizer
        for number, value in _fields(data):
            if number == 1:
                fields = dict(_fields(value))
                (score,) = struct.unpack("<f", fields.get(2, bytes(4)))
                pieces.append(_Piece(fields[1].decode("utf-8"), score, fields.get(3, NORMAL)))
            elif number in parts:
                parts[number] = dict(_fields(value))
        if not pieces:
            raise ValueError("there are no pieces")
        trainer, normalizer, denormalizer = parts.values()
        return _Model(
            pieces,
            kind=trainer.get(3, UNIGRAM),
            characters=normalizer.get(2, b""),
            composes=b"nfkc" in normalizer.get(1, b""),
            begins_with_space=bool(normalizer.get(3, True)),
            strips=bool(normalizer.get(4, True)),
            escapes=bool(normalizer.get(5, True)),
            ends_with_space=bool(trainer.get(24, False)),
            denormalizes=bool(denormalizer.get(2)),
        )

    @property
    def problem(self) -> str | None:
        """Why it can't be used, if so: what can't be converted exactly isn't converted."""
        kinds = {piece.kind for piece in self.pieces}
        texts = [piece.text for piece in self.pieces if piece.kind == NORMAL]
        if self.kind not in (UNIGRAM, BPE):
            return "it cuts words or characters. Only bpe and unigram models can be read"
        if USER_DEFINED in kinds:
            return "it has user-defined symbols. Train it without them"
        if UNUSED in kinds:
            return "some of its pieces are marked as unused. Take the model as it was trained"
        if self.ends_with_space or not self.escapes:
            return "its words don't begin with a space that is written as ▁. Train it with the usual spaces"
        if self.denormalizes:
            return "it has rules of denormalization. Train it without them"
        if taken := next((text for text in texts if text in SPECIAL_PIECES), None):
            return (
                f"its piece {taken} has the name of a special piece. Train it with that one as control symbol"
            )
        if self.kind == UNIGRAM and (
            taken := next((text for text in texts if any(start in text for start in _STARTS)), None)
        ):
            return f"its piece {taken} reaches into names such as </s> and <0x41>. Train it without such text"
        return None

    def description(self) -> dict[str, Any]:
        """The same as a `tokenizer.json`."""
        start = [{"type": "Prepend", "prepend": SPACE}] if self.begins_with_space else []
        steps = [
            # The library applies the rules to one character with its marks at a time, and to no long ones.
            *([{"type": "NFC"}] if self.composes else []),
            *([_precompiled(self.characters)] if self.characters else []),
            *([{"type": "Strip", "strip_left": True, "strip_right": True}] if self.strips else []),
            *([_replace({"Regex": " {2,}"}, " ")] if self.strips else []),
            *start,
            _replace({"String": " "}, SPACE),
        ]
        spaces = _ALL if self.strips else int(self.begins_with_space)
        end = [{"type": "Strip", "content": " ", "start": spaces, "stop": 0}] if spaces else []
        back = [_replace({"String": SPACE}, " "), {"type": "ByteFallback"}, {"type": "Fuse"}, *end]
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "normalizer": {"type": "Sequence", "normalizers": steps},
            "pre_tokenizer": None if self.kind == BPE else _CUT_NAMES,
            "post_processor": None,
            "decoder": {"type": "Sequence", "decoders": back},
            "model": self._bpe() if self.kind == BPE else self._unigram(),
        }

    @property
    def _used(self) -> list[_Piece]:
        return [piece for piece in self.pieces if piece.kind in (NORMAL, BYTE)]

    @property
    def _falls_back(self) -> bool:
        return any(piece.kind == BYTE for piece in self.pieces)

    def _unigram(self) -> dict[str, Any]:
        # The library takes unknown characters for less likely than any piece, so special ones must not be the least.
        least = min(piece.score for piece in self._used if piece.kind == NORMAL)
        return {
            "type": "Unigram",
            "unk_id": UNKNOWN,
            "vocab": [
                *([name, least] for name in SPECIAL_PIECES),
                *([piece.text, piece.score if piece.kind == NORMAL else least] for piece in self._used),
            ],
            "byte_fallback": self._falls_back,
        }

    def _bpe(self) -> dict[str, Any]:
        names = [*SPECIAL_PIECES, *(piece.text for piece in self._used)]
        normal = {piece.text: piece.score for piece in self._used if piece.kind == NORMAL}
        merges = [
            (piece[:place], piece[place:])
            for piece in sorted(normal, key=lambda piece: -normal[piece])
            for place in range(len(piece) - 1, 0, -1)
            if piece[:place] in normal and piece[place:] in normal
        ]
        return {
            "type": "BPE",
            "dropout": None,
            "unk_token": SPECIAL_PIECES[UNKNOWN],
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": self._falls_back,
            "ignore_merges": False,
            "vocab": {name: number for number, name in enumerate(names)},
            "merges": merges,
        }


def _precompiled(characters: bytes) -> dict[str, Any]:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(characters).decode("ascii")}


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field of a protobuf message: an integer or bytes."""
    place = 0
    while place < len(message):
        tag, place = _integer(message, place)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, place = _integer(message, place)
            yield number, value
            continue
        if wire == 2:
            size, place = _integer(message, place)
        else:
            size = {1: 8, 5: 4}[wire]
        if place + size > len(message):
            raise ValueError("it ends too early")
        yield number, message[place : place + size]
        place += size


def _integer(message: bytes, place: int) -> tuple[int, int]:
    """The number that stands there, seven bits in each byte, and the place behind it."""
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
