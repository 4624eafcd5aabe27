"""Strings to pieces to ids and back."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Protocol

from regard.text import bpe, bytewise, characters, sentencepiece, unigram, words
from regard.text.borrowing import Borrowing
from regard.text.dropout import BpeDropout
from regard.text.languages import LanguageTokenizers, TargetTokenizer, encode_targets
from regard.text.sampling import UnigramSampling
from regard.text.tags import NO_TAGS, AfterTags, Tags
from regard.text.tokenizer import Tokenizer

__all__ = [
    "NO_TAGS",
    "READERS",
    "TOKENIZERS",
    "AfterTags",
    "Borrowing",
    "BpeDropout",
    "LanguageTokenizers",
    "Learner",
    "Recutter",
    "Tags",
    "TargetTokenizer",
    "Tokenizer",
    "UnigramSampling",
    "encode_targets",
]


class Learner(Protocol):
    """Learns a tokenizer from texts; the same texts give the same tokenizer, to the byte."""

    def __call__(
        self, texts: Iterable[str], *, vocabulary: int, normalization: str = "nfc", lowercase: bool = False
    ) -> Tokenizer: ...


class Recutter(Protocol):
    """Cuts rows of ids into other pieces of the same text, as chance will have it."""

    def __call__(self, ids: Sequence[int], chance: Random) -> Sequence[int]: ...


TOKENIZERS: Mapping[str, Learner] = {
    "characters": characters.learn,
    "words": words.learn,
    "bytes": bytewise.learn,
    "bpe": bpe.learn,
    "unigram": unigram.learn,
}

# Vocabularies that others learned, read from their files.
READERS: Mapping[str, Callable[[Path], Tokenizer]] = {"sentencepiece": sentencepiece.read}
