"""Rules: what an answer must and must not hold.

A rule is a value. It says what it allows next, and what it has become after a piece: so it follows its
hypothesis through every search as simply as a number would.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import torch
from torch import Tensor


@dataclass(frozen=True)
class Allowed:
    """What may come next: not `never`, and nothing but `only`, where that is said."""

    never: Collection[int] = ()
    only: Collection[int] | None = None
    ranges: Collection[range] = ()  # never one of these either
    rather_not: Collection[int] = ()  # nor these, as long as other rules do not ask for them


class Rule(Protocol):
    @property
    def progress(self) -> int | None:
        """How much is there of what must come: a beam compares hypotheses with their like. None: nothing must."""
        ...

    @property
    def forced(self) -> int:
        """So many pieces are not the model's choice."""
        ...

    def allowed(self, room: int) -> Allowed:
        """`room` pieces can still come, the next one included."""
        ...

    def advancing(self) -> Collection[int]:
        """Pieces that get on with what must come."""
        ...

    def after(self, piece: int) -> Self: ...

    def impossible(self, room: int) -> str | None:
        """Before the search: why no answer of this many pieces can keep the rule; None if one can."""
        ...


class _Plain:
    """A rule that asks for nothing to come, and can always be kept."""

    @property
    def progress(self) -> int | None:
        return None

    @property
    def forced(self) -> int:
        return 0

    def advancing(self) -> Collection[int]:
        return ()

    def impossible(self, room: int) -> str | None:
        return None


@dataclass(frozen=True)
class Prefix(_Plain):
    """The answer begins with these pieces."""

    pieces: tuple[int, ...]

    @property
    def forced(self) -> int:
        return len(self.pieces)

    def allowed(self, room: int) -> Allowed:
        return Allowed(only=self.pieces[:1] or None)

    def after(self, piece: int) -> "Prefix":
        return Prefix(self.pieces[1:])

    def impossible(self, room: int) -> str | None:
        if len(self.pieces) <= room:
            return None
        return f"the beginning has {len(self.pieces)} pieces, but the answer can have only {room}"


@dataclass(frozen=True)
class Outside(_Plain):
    """No piece of these ranges is in the answer."""

    ranges: tuple[range, ...]

    def allowed(self, room: int) -> Allowed:
        return Allowed(ranges=self.ranges)

    def after(self, piece: int) -> "Outside":
        return self


@dataclass(frozen=True)
class Forbidden(_Plain):
    """None of these sequences of pieces is in the answer. One piece is a sequence too."""

    sequences: tuple[tuple[int, ...], ...]
    said: tuple[int, ...] = ()

    def allowed(self, room: int) -> Allowed:
        return Allowed(never={one[-1] for one in self.sequences if _ends_with(self.said, one[:-1])})

    def after(self, piece: int) -> "Forbidden":
        longest = max(map(len, self.sequences), default=0)
        return replace(self, said=(*self.said, piece)[-longest:])


@dataclass(frozen=True)
class NoRepeat(_Plain):
    """No `size` pieces in a row come twice, unless other rules ask for it."""

    size: int
    said: tuple[int, ...] = ()

    def allowed(self, room: int) -> Allowed:
        before = self.size - 1
        tail = self.said[len(self.said) - before :]
        return Allowed(
            rather_not={
                self.said[place + before]
                for place in range(len(self.said) - before)
                if self.said[place : place + before] == tail
            }
        )

    def after(self, piece: int) -> "NoRepeat":
        return replace(self, said=(*self.said, piece))


@dataclass(frozen=True)
class Phrase:
    """Pieces that must come in a row, written in one of several ways."""

    ways: tuple[tuple[int, ...], ...]
    follow: frozenset[int] | None = None  # what may stand right behind it; None is anything
    name: str = ""  # for messages

    def shortest(self, behind: frozenset[int] | None = None) -> int:
        """Pieces of it, and one before it where only some may stand `behind` what came, and it begins otherwise."""
        return min(len(way) + (behind is not None and way[0] not in behind) for way in self.ways)


@dataclass(frozen=True)
class Required(_Plain):
    """Each of these phrases is in the answer. They may come in any order, and overlap.

    A hypothesis can't end before all are there, and when the room gets tight it is allowed nothing else.
    """

    phrases: tuple[Phrase, ...]
    end: int
    missing: frozenset[int]
    said: tuple[int, ...] = ()  # the last pieces, as many as the longest way has
    follow: frozenset[int] | None = None  # what may stand behind the phrase that was just completed

    @staticmethod
    def of(phrases: Sequence[Phrase], *, end: int) -> "Required":
        return Required(tuple(phrases), end, frozenset(range(len(phrases))))

    @property
    def needed(self) -> int:
        """Pieces that are sure to be enough for the phrases that are missing: one after the other.

        Only the one that is farthest on its way counts as begun, because going on with it may mean to
        give up the others.
        """
        going_on = {
            n: len(way) - done
            for n, way, done in sorted(self._begun(), key=lambda begun: begun[2] - len(begun[1]))
            if self.follow is None or way[done] in self.follow
        }
        return self._one_after_the_other(going_on)

    @property
    def progress(self) -> int | None:
        return sum(phrase.shortest() for phrase in self.phrases) - self.needed

    def advancing(self) -> Collection[int]:
        found = {way[done] for _, way, done in self._begun()}
        return found | {way[0] for n in self.missing for way in self.phrases[n].ways}

    def allowed(self, room: int) -> Allowed:
        if not self.missing:
            return Allowed(only=self.follow)
        if self._whole + 2 <= room:  # even if all that is begun is given up
            return Allowed([self.end], self.follow)
        own = {piece for n in self.missing for way in self.phrases[n].ways for piece in way}
        hasty = {piece for piece in own if self.after(piece).needed + 2 <= room}
        return Allowed([self.end], hasty if self.follow is None else (hasty & self.follow or self.follow))

    def after(self, piece: int) -> "Required":
        longest = max(len(way) for phrase in self.phrases for way in phrase.ways)
        said = (*self.said, piece)[-longest:]
        done = {n for n in self.missing if any(_ends_with(said, way) for way in self.phrases[n].ways)}
        closing = [follow for n in done if (follow := self.phrases[n].follow) is not None]
        follow = frozenset.intersection(*closing) if closing else None
        return replace(self, missing=self.missing - done, said=said, follow=follow)

    def impossible(self, room: int) -> str | None:
        if self.needed + 1 <= room:
            return None
        names = ", ".join(phrase.name for phrase in self.phrases)
        return f"{names} and the end are {self.needed + 1} pieces, but the answer can have only {room}"

    @property
    def _whole(self) -> int:
        """The same, were nothing begun."""
        return self._one_after_the_other({})

    def _one_after_the_other(self, going_on: Mapping[int, int]) -> int:
        """Pieces of all that is missing: first the one that this saves most of, some of which may be begun."""
        follows = [follow for n in self.missing if (follow := self.phrases[n].follow) is not None]
        behind = frozenset.intersection(*follows) if follows else None
        later = {n: self.phrases[n].shortest(behind) for n in self.missing}
        first = {
            n: min(self.phrases[n].shortest(self.follow), going_on.get(n, later[n] + 1)) for n in self.missing
        }
        return sum(later.values()) + min((first[n] - later[n] for n in self.missing), default=0)

    def _begun(self) -> list[tuple[int, tuple[int, ...], int]]:
        """Of the missing phrases the ways that are begun, with how much of each is said."""
        return [
            (n, way, done)
            for n in self.missing
            for way in self.phrases[n].ways
            if 0 < (done := _overlap(self.said, way)) < len(way)
        ]


def _overlap(said: tuple[int, ...], way: tuple[int, ...]) -> int:
    """The greatest n such that `said` ends with the first n of `way`."""
    return next(n for n in range(min(len(said), len(way)), -1, -1) if _ends_with(said, way[:n]))


def _ends_with(said: Sequence[int], tail: Sequence[int]) -> bool:
    return len(tail) == 0 or tuple(said[-len(tail) :]) == tuple(tail)


Rules = tuple[Rule, ...]  # of one hypothesis


def restrict(following: Tensor, rules: Sequence[Rules], rooms: Sequence[int]) -> Tensor:
    """Log-probabilities (rows V) without what the rules of each row do not allow."""
    if not any(rules):
        return following
    following = following.clone()
    for row, (some, room) in enumerate(zip(rules, rooms, strict=True)):
        allowed = allowed_by(some, room)
        if allowed.only is not None:
            only = torch.tensor(list(allowed.only), dtype=torch.long, device=following.device)
            kept = following[row, only]
            following[row] = -torch.inf
            following[row, only] = kept
        if allowed.never:
            following[row, list(allowed.never)] = -torch.inf
        for some_ids in allowed.ranges:
            following[row, some_ids.start : some_ids.stop] = -torch.inf
    return following


def allowed_by(rules: Rules, room: int) -> Allowed:
    """What all rules of a hypothesis allow next.

    What one would rather not have may come where it gets on with what must come, and where the others leave
    nothing else.
    """
    each = [rule.allowed(room) for rule in rules]
    onlys = [set(one.only) for one in each if one.only is not None]
    only = set.intersection(*onlys) if onlys else None
    never = {piece for one in each for piece in one.never}
    ranges = [some for one in each for some in one.ranges]
    rather_not = {piece for one in each for piece in one.rather_not}
    if rather_not:
        rather_not -= {piece for rule in rules for piece in _needed(rule)}
    if rather_not and only is not None:
        left = {piece for piece in only - never if not any(piece in some for some in ranges)}
        rather_not = rather_not if left - rather_not else set()
    return Allowed(never | rather_not, only, ranges)


def _needed(rule: Rule) -> set[int]:
    """Pieces after which less is missing of what must come: to begin again is not to get on."""
    if rule.progress is None:
        return set()
    return {piece for piece in rule.advancing() if (rule.after(piece).progress or 0) > rule.progress}


def after(rules: Rules, piece: int) -> Rules:
    return tuple(rule.after(piece) for rule in rules)
