"""One piece for each word."""

from collections.abc import Iterable

from tokenizers import models, trainers

from regard.core.pieces import SPECIAL_PIECES, UNKNOWN
from regard.text import bytelevel
from regard.text.learning import require_room, train
from regard.text.normalization import steps
from regard.text.tokenizer import Tokenizer, from_description


def learn(
    texts: Iterable[str], *, vocabulary: int, normalization: str = "nfc", lowercase: bool = False
) -> Tokenizer:
    """The most frequent words, numbers and runs of punctuation, each with the space before it.

    All others are unknown.
    """
    require_room(vocabulary, 1, "at least one word")
    model = models.WordLevel(unk_token=SPECIAL_PIECES[UNKNOWN])
    tokenizer = bytelevel.around(model, steps(normalization, lowercase=lowercase))
    trainer = trainers.WordLevelTrainer(
        vocab_size=vocabulary, special_tokens=list(SPECIAL_PIECES), show_progress=False
    )
    return from_description(train(tokenizer, trainer, texts))
