"""Members of several families, tried together without trying all with all."""

from collections.abc import Iterable
from itertools import combinations, product


def pairwise(*families: Iterable[object]) -> list[tuple[object, ...]]:
    """Few combinations, in which every two members of different families meet at least once."""
    rows = {row: set(combinations(enumerate(row), 2)) for row in product(*families)}
    missing, chosen = set().union(*rows.values()), []
    while missing:
        chosen.append(max(rows, key=lambda row: len(rows[row] & missing)))
        missing -= rows[chosen[-1]]
    return chosen
