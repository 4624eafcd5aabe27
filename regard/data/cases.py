"""What a model is asked when it is scored, and every answer that is right."""

from collections.abc import Iterable
from typing import NamedTuple

from regard.core.prediction import Request
from regard.data.pairs import Pair


class Case(NamedTuple):
    """A source with all its right targets, and the tags before it."""

    source: str
    targets: tuple[str, ...]
    tags: tuple[str, ...] = ()
    group: str = ""  # as of its pairs

    @property
    def request(self) -> Request:
        """What a model is asked: the first tag is the language that is wanted."""
        return Request(self.source, to=self.tags[0] if self.tags else None)


def by_pair(pairs: Iterable[Pair]) -> list[Case]:
    """Every pair is a case of its own, as test sets of translation are scored."""
    return [Case(pair.source, (pair.target,), pair.tags, pair.group) for pair in pairs]


def by_source(pairs: Iterable[Pair]) -> list[Case]:
    """Every source is asked once; its targets, each once, are all right. In the order of the pairs."""
    targets: dict[tuple[str, tuple[str, ...], str], dict[str, None]] = {}
    for pair in pairs:
        targets.setdefault((pair.source, pair.tags, pair.group), {})[pair.target] = None
    return [Case(source, tuple(right), tags, group) for (source, tags, group), right in targets.items()]
