"""Alignments in files, a line for each pair: `0-0 1-2`, source word and target word, both counted from 0.

In a gold file a sure link is written `1-2` and a possible one `1p2` or `1?2`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.alignments.links import Links
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.data import Pair
from regard.data.lines import read_lines

_LINK = re.compile(r"([0-9]{1,9})([-p?])([0-9]{1,9})")


@dataclass(frozen=True)
class Gold:
    """What people aligned: links that must be found, and all that may be, these included."""

    sure: Links
    possible: Links

    def __post_init__(self) -> None:
        assert self.sure <= self.possible


def read_links(path: Path) -> list[Links]:
    """The links of each line; an empty line has none."""
    return [gold.sure for gold in _read(path, "-", "0-0 1-2")]


def read_gold(path: Path) -> list[Gold]:
    """Sure and possible links of each line."""
    return list(_read(path, "-p?", "0-0 for a sure link, 0p1 or 0?1 for a possible one"))


def write_links(alignments: Iterable[Links], path: Path) -> None:
    write_whole(path, "".join(f"{written(links)}\n" for links in alignments))


def written(links: Links) -> str:
    """A line without its end."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def check_gold(gold: Sequence[Gold], pairs: Sequence[Pair], path: Path) -> None:
    """Every pair has its line, and every link its two words."""
    if len(gold) != len(pairs):
        raise UserError(
            f"{path} has {len(gold):,} lines, but there are {len(pairs):,} pairs to align. "
            "Give a line for each pair, an empty one where there are no links."
        )
    for number, (links, pair) in enumerate(zip(gold, pairs, strict=True), start=1):
        counts = (len(pair.source.split()), len(pair.target.split()))
        for link in sorted(links.possible):
            for side, word, count in zip(("source", "target"), link, counts, strict=True):
                if word >= count:
                    raise UserError(
                        f"{path}, line {number}: the link {link[0]}-{link[1]} names {side} word {word}, but this "
                        f"{side} has {count} words. Words are what white space separates, counted from 0."
                    )


def _read(path: Path, signs: str, example: str) -> Iterator[Gold]:
    for number, line in read_lines(path):
        links: dict[str, set[tuple[int, int]]] = {"-": set(), "p": set(), "?": set()}
        for word in line.split():
            found = _LINK.fullmatch(word)
            if found is None or found[2] not in signs:
                raise UserError(
                    f"{path}, line {number}: {word[:40]!r} is no link. Write source and target word, both "
                    f"counted from 0: {example}."
                )
            links[found[2]].add((int(found[1]), int(found[3])))
        sure = frozenset(links["-"])
        yield Gold(sure, sure | links["p"] | links["?"])
