"""A learned vocabulary and the way to it: text to ids and back."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers

from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.core.pieces import SPECIAL_PIECES
from regard.core.surrogates import without_surrogates
from regard.core.words import Part, Words, numbered, part
from regard.text import bytelevel

SPACE = "▁"  # how SentencePiece writes a space
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # and a byte


class Tokenizer:
    """Text to ids and back, kept in one `tokenizer.json` that the `tokenizers` library reads too.

    The special pieces have the ids 0 to 3 but are no "added tokens" of that library, which would
    look for their names in the text: whoever writes `</s>` gets five characters, not the end mark.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        """Take over a tokenizer whose vocabulary starts with the special pieces."""
        description = json.loads(tokenizer.to_str())
        found = tuple(tokenizer.id_to_token(number) for number in range(len(SPECIAL_PIECES)))
        if found != SPECIAL_PIECES:
            raise ValueError(f"its first pieces are {found}, not {SPECIAL_PIECES}")
        if description["added_tokens"] or description["post_processor"]:
            raise ValueError("it has added tokens, by which a text could turn into special pieces")
        if description["truncation"] or description["padding"]:
            raise ValueError("it cuts or pads what it encodes")
        self._tokenizer = tokenizer
        self._is_bytelevel = (description["pre_tokenizer"] or {}).get("type") == "ByteLevel"
        first = (description["decoder"] or {}).get("decoders", [{}])[0]
        self._is_sentencepiece = first.get("pattern") == {"String": SPACE}

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def __repr__(self) -> str:
        return f"Tokenizer({type(self._tokenizer.model).__name__}, {len(self)} pieces)"

    def encode(self, text: str) -> list[int]:
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Many texts at once, on all cores."""
        encoded = self._tokenizer.encode_batch_fast(
            [without_surrogates(text) for text in texts], add_special_tokens=False
        )
        return [encoding.ids for encoding in encoded]

    def decode(self, ids: Sequence[int], instead: Mapping[int, str] | None = None) -> str:
        """The text of the ids; special pieces have none.

        `instead` is what stands at some positions in place of what the ids there say: see `spaced`.
        """
        if instead:
            whole = b"".join(self._raw(ids, instead)).decode("utf-8", errors="replace")
            return whole.removeprefix(" ") if self._has_spaces else whole
        text: str = self._tokenizer.decode([number for number in ids if number >= len(SPECIAL_PIECES)])
        return text

    def spaced(self, word: str) -> str:
        """A word as it stands in a text: with the space before it, where pieces have one."""
        return f" {word}" if self._has_spaces else word

    def surfaces(self, text: str) -> list[str]:
        """The text that each piece of `encode(text)` stands for, normalised, with the space that belongs to it."""
        text = without_surrogates(text)
        (encoded,) = self._tokenizer.encode_batch([text], add_special_tokens=False)
        if self._tokenizer.normalizer is not None and self._tokenizer.pre_tokenizer is not None:
            normal = self._tokenizer.normalizer.normalize_str(text)
            parts = [part for part, _ in self._tokenizer.pre_tokenizer.pre_tokenize_str(normal)]
            if len(parts) == len(encoded.ids):  # a piece for each, as words and letters have
                return [self._raw_text(part) for part in parts]
        return [text[start:stop] for start, stop in encoded.offsets]

    def _raw_text(self, part: str) -> str:
        return bytelevel.raw(part).decode("utf-8") if self._is_bytelevel else part

    def pieces(self, ids: Iterable[int]) -> tuple[str, ...]:
        """One name for each id, made to be looked at: see `regard.text.bytelevel.readable`."""
        return tuple(self._names[number] for number in ids)

    def words(self, text: str) -> Words:
        """The words of a text, and which of them each piece of `encode(text)` is part of."""
        numbers = numbered(text)
        (encoded,) = self._tokenizer.encode_batch([without_surrogates(text)], add_special_tokens=False)
        return Words(tuple(text.split()), tuple(part(numbers[start:stop]) for start, stop in encoded.offsets))

    def words_of(self, ids: Sequence[int], instead: Mapping[int, str] | None = None) -> Words:
        """The words of `decode(ids, instead)`, and which of them each id is part of.

        A special piece has no text: it is part of a word if it stands inside one.
        """
        raw = self._raw(ids, instead or {})
        text = b"".join(raw).decode("utf-8", errors="surrogateescape")  # half a character is no white space
        numbers = [
            number
            for character, number in zip(text, numbered(text), strict=True)
            for _ in character.encode("utf-8", errors="surrogateescape")
        ]  # of each byte
        parts: list[Part] = []
        start = 0
        for piece in raw:
            stop = start + len(piece)
            parts.append(part(numbers[start:stop]) if piece else _inside(numbers, start))
            start = stop
        return Words(tuple(self.decode(ids, instead).split()), tuple(parts))

    def _raw(self, ids: Sequence[int], instead: Mapping[int, str]) -> list[bytes]:
        """The bytes of each id, or of what stands instead."""
        return [
            without_surrogates(instead[place]).encode() if place in instead else self._bytes[number]
            for place, number in enumerate(ids)
        ]

    @property
    def _has_spaces(self) -> bool:
        """Words begin with the space before them."""
        return self._is_bytelevel or self._is_sentencepiece

    @cached_property
    def _bytes(self) -> tuple[bytes, ...]:
        raw = bytelevel.raw if self._is_bytelevel else _raw_piece if self._is_sentencepiece else str.encode
        return (b"",) * len(SPECIAL_PIECES) + tuple(raw(piece) for piece in self._vocabulary)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        if self._is_bytelevel:
            return SPECIAL_PIECES + tuple(bytelevel.readable(piece) for piece in self._vocabulary)
        return SPECIAL_PIECES + tuple(piece.replace(" ", "▁") for piece in self._vocabulary)

    @property
    def vocabulary(self) -> list[str]:
        """The pieces as the library calls them, in the order of their ids; no two are called alike."""
        vocabulary = self._tokenizer.get_vocab()
        return sorted(vocabulary, key=vocabulary.__getitem__)

    @property
    def _vocabulary(self) -> list[str]:
        """The same without the special ones."""
        return self.vocabulary[len(SPECIAL_PIECES) :]

    def to_json(self) -> str:
        return self._tokenizer.to_str()

    def save(self, path: Path) -> None:
        write_whole(path, self._tokenizer.to_str(pretty=True))

    @staticmethod
    def load(path: Path) -> "Tokenizer":
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                f"{path}: the tokenizer cannot be read ({_reason(error)}). "
                "Give the tokenizer.json that was saved with the model."
            ) from error
        try:
            return Tokenizer.from_json(text)
        except ValueError as error:
            raise UserError(
                f"{path}: this is not a tokenizer made by Regard: {error}. "
                "The file may be damaged; take it from the model's folder again."
            ) from error

    @staticmethod
    def from_json(text: str) -> "Tokenizer":
        """The other way of `to_json`; a `ValueError` when the text is something else."""
        try:
            inner = tokenizers.Tokenizer.from_str(text)
        except Exception as error:  # the library raises nothing more precise
            raise ValueError(str(error)) from error
        return Tokenizer(inner)


def from_description(description: dict[str, Any]) -> Tokenizer:
    """A freshly learned tokenizer, given as parsed `tokenizer.json`, without its added tokens."""
    return Tokenizer.from_json(json.dumps({**description, "added_tokens": []}, ensure_ascii=False))


def _raw_piece(piece: str) -> bytes:
    """The bytes of a piece of SentencePiece."""
    byte = _BYTE.fullmatch(piece)
    return bytes([int(byte[1], 16)]) if byte else piece.replace(SPACE, " ").encode()


def _inside(numbers: Sequence[int | None], place: int) -> Part:
    """The word that goes on both before and after this place, if there is one."""
    if 0 < place < len(numbers) and (word := numbers[place]) is not None and numbers[place - 1] == word:
        return (word,)
    return None


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
