"""Byte-pair encoding: the most frequent neighbours become one piece, again and again (Sennrich et al. 2016a)."""

from collections.abc import Iterable

from tokenizers import models, trainers

from regard.core.pieces import SPECIAL_PIECES
from regard.text import bytelevel
from regard.text.learning import require_room, train
from regard.text.normalization import steps
from regard.text.tokenizer import Tokenizer, from_description


def learn(
    texts: Iterable[str], *, vocabulary: int, normalization: str = "nfc", lowercase: bool = False
) -> Tokenizer:
    """Sub-words over bytes. All 256 bytes are pieces, so nothing is unknown."""
    require_room(vocabulary, len(bytelevel.ALPHABET), "one piece for each byte")
    tokenizer = bytelevel.around(models.BPE(), steps(normalization, lowercase=lowercase))
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL_PIECES),
        initial_alphabet=bytelevel.ALPHABET,
        show_progress=False,
    )
    return from_description(train(tokenizer, trainer, texts))
