"""Where the hypotheses of a beam ended so far, and whether better ones can still come."""

import math
from collections.abc import Sequence

from regard.search.hypothesis import Ending, best_first


class Pool:
    """Of one source, by the groups of its beam.

    Groups may come to the same answer, and it would count once. So a group's own are its best `size` without those
    that are the own of groups before it.
    """

    def __init__(self, groups: int, size: int, best: int):
        self.size, self.best = size, best
        self.own: list[list[Ending]] = [[] for _ in range(groups)]  # best first
        self._ended: list[list[Ending]] = [[] for _ in range(groups)]  # best first

    def add(self, group: int, ending: Ending) -> None:
        enough = self.size * len(self.own)  # even if all that groups before it have is among them
        self._ended[group] = best_first([*self._ended[group], ending])[:enough]
        others: set[tuple[int, ...]] = set()
        for number, ended in enumerate(self._ended):
            self.own[number] = [one for one in ended if one.tokens not in others][: self.size]
            others.update(one.tokens for one in self.own[number])

    def answers(self) -> list[Ending]:
        return best_first(one for own in self.own for one in own)[: self.best]

    def is_full(self, group: int) -> bool:
        return len(self.own[group]) == self.size

    def beats(self, group: int, attainable: float) -> bool:
        """True when nothing that still can come to a group would be one of its own, or an answer."""
        if attainable == -math.inf or _beat(self.own[group], self.size, attainable):
            return True
        found = self._ended[group][: self.size]
        return _beat(found, self.size, attainable) and _beat(self.answers(), self.best, attainable)


def _beat(endings: Sequence[Ending], wanted: int, attainable: float) -> bool:
    return len(endings) == wanted and endings[-1].rank >= attainable
