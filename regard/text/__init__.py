"""Strings to pieces to ids and back."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

from regard.text import bpe, characters, sentencepiece, unigram, words
from regard.text.dropout import BpeDropout
from regard.text.sampling import UnigramSampling
from regard.text.tokenizer import Tokenizer

__all__ = ["READERS", "TOKENIZERS", "BpeDropout", "Learner", "Tokenizer", "UnigramSampling"]


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

# Vocabularies that others learned, read from their files.
READERS: Mapping[str, Callable[[Path], Tokenizer]] = {"sentencepiece": sentencepiece.read}
