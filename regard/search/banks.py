"""How a beam is shared out where phrases are required (after Post & Vilar 2018)."""

import math
from collections import defaultdict
from collections.abc import Sequence

from torch import Tensor

from regard.search.rules import Rules

Candidate = tuple[int, int, float]  # row, piece, score


def share_out(scores: Tensor, rules: Sequence[Rules], width: int, end: int) -> list[Candidate]:
    """The candidates of one source to end with, then those to go on with.

    `scores` (K V) are those of every piece after every live hypothesis, `rules` the hypotheses' own. A
    likely hypothesis that puts its phrases off would always beat one that has begun with them. So candidates
    compete only with those that have as much of the phrases: each such bank gets an equal share
    of the width, and what one can't fill goes to the others.
    """
    live, vocabulary = scores.shape
    places = set(scores.flatten().topk(min(2 * width, live * vocabulary)).indices.tolist())
    for row, some in enumerate(rules):
        for rule in some:
            places |= {row * vocabulary + piece for piece in rule.advancing()}
        places.add(row * vocabulary + int(scores[row].argmax()))  # and its own best
    candidates = [divmod(place, vocabulary) for place in places]
    values = scores.flatten()[list(places)].tolist()
    found = sorted(
        (
            (row, piece, score)
            for (row, piece), score in zip(candidates, values, strict=True)
            if score != -math.inf
        ),
        key=lambda one: -one[2],
    )
    going_on = [one for one in found if one[1] != end]
    ending = [one for one in found if one[1] == end][:width]
    return [*ending, *_shares(going_on, rules, width)]


def _shares(candidates: Sequence[Candidate], rules: Sequence[Rules], width: int) -> list[Candidate]:
    banks: dict[int, list[Candidate]] = defaultdict(list)
    for row, piece, score in candidates:
        met = sum(rule.after(piece).progress or 0 for rule in rules[row])
        banks[met].append((row, piece, score))
    chosen: list[Candidate] = []
    while len(chosen) < width and banks:
        share = max(1, (width - len(chosen)) // len(banks))
        for met in sorted(banks, reverse=True):  # those that have most of them first
            room = min(share, width - len(chosen))
            chosen += banks[met][:room]
            banks[met] = banks[met][room:]
        banks = defaultdict(list, {met: rest for met, rest in banks.items() if rest})
    return chosen
