"""Strings to pieces to ids and back."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from regard.text import bpe, characters, unigram, words
from regard.text.dropout import BpeDropout
from regard.text.tags import NO_TAGS, Tags
from regard.text.tokenizer import Tokenizer

__all__ = ["NO_TAGS", "TOKENIZERS", "BpeDropout", "Learner", "Tags", "Tokenizer"]


class Learner(Protocol):
    """Learns a tokenizer from texts; the same texts give the same tokenizer, to the byte."""

    def __call__(
        self, texts: Iterable[str], *, vocabulary: int, normalization: str = "nfc", lowercase: bool = False
    ) -> Tokenizer: ...


TOKENIZERS: Mapping[str, Learner] = {
    "characters": characters.learn,
    "words": words.learn,
    "bpe": bpe.learn,
    "unigram": unigram.learn,
}
