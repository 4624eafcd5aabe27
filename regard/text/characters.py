"""One piece for each character."""

from collections.abc import Iterable

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from regard.core.pieces import SPECIAL_PIECES, UNKNOWN
from regard.text.learning import require_room, train
from regard.text.normalization import steps
from regard.text.tokenizer import Tokenizer, from_description


def learn(
    texts: Iterable[str], *, vocabulary: int, normalization: str = "nfc", lowercase: bool = False
) -> Tokenizer:
    """One piece for each code point of the texts.

    When there are more code points than the vocabulary has room for, the least frequent fall out
    and are unknown, like those that the texts never had.
    """
    require_room(vocabulary, 1, "at least one character")
    tokenizer = tokenizers.Tokenizer(models.WordLevel(unk_token=SPECIAL_PIECES[UNKNOWN]))
    tokenizer.normalizer = normalizers.Sequence(steps(normalization, lowercase=lowercase))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    trainer = trainers.WordLevelTrainer(
        vocab_size=vocabulary, special_tokens=list(SPECIAL_PIECES), show_progress=False
    )
    return from_description(train(tokenizer, trainer, texts))
