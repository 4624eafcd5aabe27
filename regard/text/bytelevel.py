"""Text as bytes, each byte written as one visible character: every text has pieces, and none is lost."""

import re
from collections.abc import Callable, Iterator, Sequence

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())


def _bytes_by_character() -> dict[str, int]:
    """GPT-2's table: visible Latin-1 stands for itself, the other bytes follow from U+0100 upwards."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {
        **{chr(byte): byte for byte in visible},
        **{chr(0x100 + number): byte for number, byte in enumerate(hidden)},
    }


_BYTES = _bytes_by_character()
_CHARACTERS = {byte: character for character, byte in _BYTES.items()}
# Bytes that are no characters, as Python's `surrogateescape` has them.
_STRAY = re.compile("([\udc80-\udcff]+)")


def around(model: models.Model, steps: Sequence[normalizers.Normalizer]) -> tokenizers.Tokenizer:
    """A tokenizer that feeds the model with words of bytes.

    One space is put before every text and taken away again, so that a word is the same piece at
    the start of a text as in the middle. The space comes after the steps of normalization, which
    must not see it.
    """
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Prepend(" ")])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", left=1, right=0)])
    return tokenizer


def words_of(tokenizer: tokenizers.Tokenizer) -> Callable[[Sequence[int]], list[str]]:
    """The way back from ids, without special pieces, to the words of bytes that the model was fed with.

    Where a row was cut inside of a character, the bytes that are left of it are a word of their own.
    """
    split = tokenizer.pre_tokenizer.pre_tokenize_str
    pieces = {number: raw(piece) for piece, number in tokenizer.get_vocab().items()}

    def words(ids: Sequence[int]) -> list[str]:
        text = b"".join([pieces[number] for number in ids]).decode("utf-8", errors="surrogateescape")
        return [word for run in _STRAY.split(text) for word in whole(run)]

    def whole(run: str) -> Iterator[str]:
        if _STRAY.match(run):
            yield "".join(_CHARACTERS[byte] for byte in run.encode("utf-8", errors="surrogateescape"))
        else:
            yield from (word for word, _ in split(run))

    return words


def raw(piece: str) -> bytes:
    return bytes(_BYTES[character] for character in piece)


def readable(piece: str) -> str:
    """The piece as people read it: spaces as "▁", bytes that are only part of a character as "<0xC3>"."""
    text = raw(piece).decode("utf-8", errors="surrogateescape")
    return "".join(
        f"<0x{ord(character) - 0xDC00:02X}>" if "\udc80" <= character <= "\udcff" else character
        for character in text.replace(" ", "▁")
    )
