"""Texts to texts: the way from a text to a row of ids and back."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from regard.core.batch import Tokens
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.core.pieces import END, UNKNOWN
from regard.core.prediction import Prediction, Request, View
from regard.core.words import Words
from regard.data import Limits, Pair, TokenStore, open_store
from regard.search import Found, Hypothesis, Rules
from regard.tasks.codec import Answers, Shown, Sources
from regard.tasks.targets import TextTargets, warn_of_length, words_read
from regard.tasks.unknowns import Copying
from regard.text import Borrowing, LanguageTokenizers, Tags, TargetTokenizer, Tokenizer
from regard.text.tokenizer import SPACE


@dataclass(frozen=True)
class Row:
    """A text and the ids that a model reads of it: tags, its pieces and the end mark."""

    text: str
    ids: tuple[int, ...]
    unread: int = 0  # pieces that are no part of it, because the text is too long

    @property
    def name(self) -> bytes:
        return ",".join(map(str, self.ids)).encode()

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class TextCodec:
    """Texts to rows of ids, and hypotheses back to predictions."""

    source: Tokenizer
    target: TargetTokenizer
    limits: Limits
    view: View
    copying: Copying | None = None  # what becomes of unknown pieces; None: they are left out
    languages: tuple[str, ...] = ()  # that can be asked for; none: there is only one
    marks: tuple[str, ...] = ()  # other tags that were trained with
    borrows: bool = False  # unknown words of a source have ids, so that a pointer can say them
    warns: bool = True  # of sources that are too long, quoting how they begin

    sources = Sources("text", words=True, letters=40)
    answers = Answers("text")

    def agrees(self, other: "TextCodec") -> bool:
        """Both have the same pieces, so that their models can answer together."""
        return (self.source.to_json(), self.target.to_json(), self.tags) == (
            other.source.to_json(),
            other.target.to_json(),
            other.tags,
        )

    @cached_property
    def tags(self) -> Tags:
        """What may stand before a source. A tokenizer of both sides has their ids after its own on both."""
        return Tags((*self.languages, *self.marks), first=len(self.source))

    @cached_property
    def borrowing(self) -> Borrowing | None:
        if not self.borrows:
            return None
        assert self.source is self.target, "what is borrowed from a source is cut as the answer is"
        return Borrowing(self.source, self.sizes["target"], self.limits.window)

    @cached_property
    def targets(self) -> TextTargets:
        return TextTargets(self.target, self.limits.target, self.view, self.copying)

    @property
    def example(self) -> str:
        return "a"

    @property
    def looks(self) -> bool:
        return self.copying is not None

    @property
    def sizes(self) -> dict[str, int]:
        """Different ids on each side."""
        source = len(self.source) + len(self.tags)
        return {"source": source, "target": source if self.target is self.source else len(self.target)}

    def check(self, request: Request) -> None:
        """A UserError where it is not known what language is wanted."""
        known = ", ".join(self.languages)
        if request.to is None and self.languages:
            raise UserError(f"the model answers in {known}: say which you want (--to on the command line)")
        if request.to is not None and request.to not in self.languages:
            raise UserError(
                f"the model does not answer in {request.to!r}, but in {known}"
                if known
                else f"the model knows one language to answer in, and is not asked for {request.to!r} or another"
            )

    def _front(self, request: Request) -> list[int]:
        """What stands before the source's pieces."""
        self.check(request)
        return [] if request.to is None else self.tags.ids([request.to])

    def admit(self, given: Any) -> str:
        if not isinstance(given, str):
            raise UserError("the model reads texts, and this is none")
        return given

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """A row for each text: its pieces and the end mark. An empty row for a text with nothing in it.

        Of what is longer than the model was trained for a part is read, with a warning: one line in, one line out.
        """
        return [ids for ids, _ in self._encoded(texts)]

    def _encoded(self, texts: Sequence[str]) -> list[tuple[list[int], int]]:
        """With each row, how many pieces of its text are not in it."""
        whole = self.source.encode_many(texts)
        lengths = list(map(len, whole))
        if self.warns:
            warn_of_length("source", self.limits.source, zip(texts, lengths, strict=True))
        read = self.borrowing.sources(texts) if self.borrowing else map(self.limits.window, whole)
        return [
            ([*ids, END] if text.strip() else [], max(0, length - self.limits.source))
            for text, ids, length in zip(texts, read, lengths, strict=True)
        ]

    def read(self, requests: Sequence[Request]) -> list[Row | UserError | None]:
        rows = self._encoded([request.text for request in requests])
        return [self._row(request, *row) for request, row in zip(requests, rows, strict=True)]

    def _row(self, request: Request, ids: Sequence[int], unread: int) -> Row | UserError | None:
        if not ids:
            return None
        try:
            return Row(request.text, (*self._front(request), *ids), unread)
        except UserError as error:
            return error

    def encode_targets(
        self, texts: Sequence[str], sources: Sequence[str], to: str | None = None
    ) -> list[list[int]]:
        """A row for each text that a model is told as its answer to a source, in the language `to`."""
        if self.borrowing:
            return self.targets.ended(texts, self.borrowing.targets(texts, sources))
        return self.targets.encode(texts, to)

    def measure(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self.source.encode_many(texts)]

    def collate(self, reads: Sequence[Row]) -> Tokens:
        return Tokens.pad([read.ids for read in reads])

    def rules(self, request: Request) -> Rules:
        """What the request asks of the answer, in pieces; a UserError where the model has no pieces for it."""
        return self.targets.rules(request)

    def answer(self, read: Row, found: Found) -> Prediction:
        looked = any(one.attention for one in found.hypotheses)
        return self.targets.answer(self._shown(read, in_words=looked), found)

    def forced(self, read: Row, target: str, hypothesis: Hypothesis) -> Prediction:
        """For an answer that was given: it reads as it was written."""
        shown = self._shown(read, in_words=bool(hypothesis.attention))
        return self.targets.forced(shown, target, hypothesis)

    def said(self, tokens: Sequence[int], source: str) -> tuple[tuple[str, ...], str]:
        return self.targets.said(Shown(source, (), None, self._lent(source)), tokens)

    def nothing(self, text: str, *, problem: str | None = None) -> Prediction:
        return self.targets.nothing(text, problem=problem)

    def _shown(self, read: Row, *, in_words: bool) -> Shown:
        front, lent = self.tags.shown(read.ids), self._lent(read.text)
        own = read.ids[len(front) :]
        names = self.source.pieces([UNKNOWN if one in lent else one for one in own])
        if lent:
            names = tuple(
                lent[one].replace(" ", SPACE) if one in lent else name
                for one, name in zip(own, names, strict=True)
            )
        words = self._words(read, len(front)) if in_words else None
        return Shown(read.text, (*front, *names), words, lent, read.unread)

    def _words(self, read: Row, front: int) -> Words:
        """The words of a source by its row; what stands before it is part of none."""
        found = words_read(self.source, read.text, read.ids[front:], self.limits.window)
        return Words(found.texts, (*(None for _ in range(front)), *found.of))

    def _lent(self, text: str) -> dict[int, str]:
        """Words of a source that the vocabulary does not know, by their ids."""
        if self.borrowing is None:
            return {}
        return dict(enumerate(self.borrowing.words(text), start=self.borrowing.first))

    def copying_unknown(self, copying: Copying) -> "TextCodec":
        return replace(self, copying=copying)

    def guarded(self) -> "TextCodec":
        return replace(self, warns=False)

    def store(self, cache: Path, pairs: Callable[[], Iterable[Pair]]) -> TokenStore:
        return open_store(cache, pairs, self.source, self.target, self.limits, self.tags, self.borrowing)

    def save(self, folder: Path) -> None:
        for name, tokenizer in self._files().items():
            tokenizer.save(folder / name)
        if self.tags:
            write_whole(
                folder / TAGS, json.dumps({"languages": self.languages, "marks": self.marks}, indent=2) + "\n"
            )

    @staticmethod
    def load(folder: Path, limits: Limits, view: View) -> "TextCodec":
        languages, marks = _read_tags(folder / TAGS)
        target: TargetTokenizer
        if (folder / SHARED).exists():
            source = target = Tokenizer.load(folder / SHARED)
        else:
            source = Tokenizer.load(folder / SOURCE)
            several = {one: folder / _of_language(one) for one in languages}
            if not (folder / TARGET).exists() and any(path.exists() for path in several.values()):
                target = LanguageTokenizers({one: Tokenizer.load(path) for one, path in several.items()})
            else:
                target = Tokenizer.load(folder / TARGET)
        return TextCodec(source, target, limits, view, languages=languages, marks=marks)

    def _files(self) -> dict[str, Tokenizer]:
        if self.source is self.target:
            return {SHARED: self.source}
        if isinstance(self.target, LanguageTokenizers):
            several = self.target.tokenizers.items()
            return {
                SOURCE: self.source,
                **{_of_language(language): one.tokenizer for language, one in several},
            }
        return {SOURCE: self.source, TARGET: self.target}


def _read_tags(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Languages and marks."""
    if not path.exists():
        return (), ()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return tuple(map(str, found["languages"])), tuple(map(str, found["marks"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path} is damaged: it should name languages and marks.") from None


SHARED, SOURCE, TARGET = "tokenizer.json", "source.tokenizer.json", "target.tokenizer.json"
TAGS = "tags.json"


def _of_language(language: str) -> str:
    return f"target.{language}.tokenizer.json"
