"""How well alignments agree with people's."""

from collections.abc import Sequence

from regard import __version__
from regard.alignments.links import Links
from regard.alignments.pharaoh import Gold
from regard.core.errors import UserError
from regard.metrics import Score


def agreement(found: Sequence[Links], gold: Sequence[Gold], *, made: str = "") -> dict[str, Score]:
    """Alignment error rate, precision and recall of the whole corpus (Och & Ney 2003, section 5), in per cent.

        precision = |A ∩ P| / |A|      recall = |A ∩ S| / |S|
        error rate = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

    A is what was found, S what is sure, P what is possible or sure. Without any link precision is 0.
    `made` says in the signature how the links were made.
    """
    if len(found) != len(gold):
        raise ValueError(f"{len(found)} alignments but gold for {len(gold)}")
    links = sum(map(len, found))
    sure = sum(len(one.sure) for one in gold)
    possible = sum(len(one.possible) for one in gold)
    if sure == 0:
        raise UserError("There is nothing to score: the gold alignments have no sure link.")
    right_sure = sum(len(one & other.sure) for one, other in zip(found, gold, strict=True))
    right = sum(len(one & other.possible) for one, other in zip(found, gold, strict=True))
    settings = [
        *([made] if made else []),
        f"sure:{sure}",
        f"possible:{possible}",
        f"version:regard-{__version__}",
    ]
    values = {
        "alignment_error_rate": 1 - (right_sure + right) / (links + sure),
        "alignment_precision": right / max(links, 1),
        "alignment_recall": right_sure / sure,
    }
    return {
        name: Score(name, 100 * value, "|".join(settings), higher_is_better="error" not in name)
        for name, value in values.items()
    }
