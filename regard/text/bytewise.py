"""One piece for each byte."""

from collections.abc import Iterable

from regard.core.pieces import SPECIAL_PIECES
from regard.text import bpe, bytelevel
from regard.text.learning import require_room
from regard.text.tokenizer import Tokenizer


def learn(
    texts: Iterable[str], *, vocabulary: int, normalization: str = "nfc", lowercase: bool = False
) -> Tokenizer:
    """The 256 bytes, whatever room there is for more: byte pairs of which none is ever joined."""
    require_room(vocabulary, len(bytelevel.ALPHABET), "one piece for each byte")
    least = len(SPECIAL_PIECES) + len(bytelevel.ALPHABET)
    return bpe.learn(texts, vocabulary=least, normalization=normalization, lowercase=lowercase)
