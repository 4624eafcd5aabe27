"""What all ways to learn a vocabulary share."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import tokenizers
from tokenizers import trainers

from regard.core.errors import UserError
from regard.core.pieces import SPECIAL_PIECES
from regard.core.surrogates import without_surrogates

_CHUNK = 1_000  # texts handed over at once: crossing into the library for each one is slow

# Learning takes time with the square of the longest word, and this long it is no word.
_LONGEST_WORD = 1_000
_ENDLESS = re.compile(rf"\S{{{_LONGEST_WORD}}}")


def require_room(vocabulary: int, pieces: int, what: str) -> None:
    """Refuse a vocabulary that cannot hold the special pieces and `pieces` more."""
    least = len(SPECIAL_PIECES) + pieces
    if vocabulary < least:
        raise UserError(
            f"vocabulary: {vocabulary} is too small. Ask for {least} or more: "
            f"{len(SPECIAL_PIECES)} special pieces and {what}."
        )


def train(tokenizer: tokenizers.Tokenizer, trainer: trainers.Trainer, texts: Iterable[str]) -> dict[str, Any]:
    """Learn from the texts, read once and as a stream; gives the parsed `tokenizer.json`."""
    tokenizer.train_from_iterator(_chunks(texts), trainer)
    description: dict[str, Any] = json.loads(tokenizer.to_str())
    return description


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    seen, blank = 0, True
    for text in texts:
        seen += 1
        blank = blank and not text.strip()
        chunk += _digestible(without_surrogates(text))
        if len(chunk) >= _CHUNK:
            yield chunk
            chunk = []
    if blank:
        found = f"all {seen:,} texts are empty or white space" if seen else "there are no texts"
        raise UserError(f"No vocabulary can be learned: {found}. Check the training files and their fields.")
    yield chunk


def _digestible(text: str) -> list[str]:
    if len(text) < _LONGEST_WORD or not _ENDLESS.search(text):
        return [text]
    return [text[start : start + _LONGEST_WORD] for start in range(0, len(text), _LONGEST_WORD)]
