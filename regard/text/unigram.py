"""A unigram language model over sub-words; a text is cut where it is most likely (Kudo 2018)."""

from collections.abc import Iterable

from tokenizers import models, trainers

from regard.core.pieces import SPECIAL_PIECES, UNKNOWN
from regard.text import bytelevel
from regard.text.learning import require_room, train
from regard.text.normalization import steps
from regard.text.tokenizer import Tokenizer, from_description

Scored = tuple[str, float]  # a piece and its log-probability

# The library adds up in a random order, and the last digits of its scores are chance.
_DIGITS = 4
# It gives bytes without a score of their own the lowest score and steps of 0.0001, in a random order.
_FILLERS = len(bytelevel.ALPHABET) * 1e-4
# So unlikely that no cut of a text is the best one with it.
_NEVER = -1_000.0


def learn(
    texts: Iterable[str], *, vocabulary: int, normalization: str = "nfc", lowercase: bool = False
) -> Tokenizer:
    """Sub-words over bytes. All 256 bytes are pieces, so nothing is unknown."""
    require_room(vocabulary, len(bytelevel.ALPHABET), "one piece for each byte")
    tokenizer = bytelevel.around(models.Unigram(), steps(normalization, lowercase=lowercase))
    trainer = trainers.UnigramTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL_PIECES),
        unk_token=SPECIAL_PIECES[UNKNOWN],
        initial_alphabet=bytelevel.ALPHABET,
        show_progress=False,
    )
    description = train(tokenizer, trainer, texts)
    model = description["model"]
    learned = [(piece, score) for piece, score in model["vocab"] if piece not in SPECIAL_PIECES]
    model["vocab"] = [(piece, _NEVER) for piece in SPECIAL_PIECES] + settled(
        learned, vocabulary - len(SPECIAL_PIECES)
    )
    model["unk_id"] = UNKNOWN
    return from_description(description)


def settled(pieces: list[Scored], room: int) -> list[Scored]:
    """The learned pieces without the marks of chance, and no more of them than there is room for.

    The library may give a few too many; the least likely fall out, but never a byte.
    """
    floor = min(score for _, score in pieces)
    scored = sorted(
        (
            (piece, round(_byte_score(score, floor) if len(piece) == 1 else score, _DIGITS))
            for piece, score in pieces
        ),
        key=lambda item: (-item[1], item[0]),
    )
    longer = [item for item in scored if len(item[0]) > 1][: room - len(bytelevel.ALPHABET)]
    kept = {*bytelevel.ALPHABET, *(piece for piece, _ in longer)}
    return [item for item in scored if item[0] in kept]


def _byte_score(score: float, floor: float) -> float:
    return floor if score <= floor + _FILLERS else score
