"""What a model is asked when it is scored, and every answer that is right."""

from collections.abc import Iterable
from typing import NamedTuple

from regard.data.pairs import Pair


class Case(NamedTuple):
    """A source with all its right targets."""

    source: str
    targets: tuple[str, ...]


def by_pair(pairs: Iterable[Pair]) -> list[Case]:
    """Every pair is a case of its own, as test sets of translation are scored."""
    return [Case(pair.source, (pair.target,)) for pair in pairs]


def by_source(pairs: Iterable[Pair]) -> list[Case]:
    """Every source is asked once; its targets, each once, are all right. In the order of the pairs."""
    targets: dict[str, dict[str, None]] = {}
    for pair in pairs:
        targets.setdefault(pair.source, {})[pair.target] = None
    return [Case(source, tuple(right)) for source, right in targets.items()]
