"""What every text-to-text task shares: its splits, and the way from texts to rows of ids and back."""

import json
import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol

import numpy as np

from regard.core.batch import Tokens
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.core.kinds import CROSS, DECODER, ENCODER, plain_kind
from regard.core.pieces import END, SPECIAL_PIECES, UNKNOWN
from regard.core.prediction import AttentionRecord, BeamNode, Prediction, Request, View
from regard.core.words import Words
from regard.data import Case, Filters, Limits, Pair, PairFile, PairReader, Side, Wanted, by_pair, select
from regard.search import (
    Forbidden,
    Found,
    Hypothesis,
    Likeliest,
    Outside,
    Phrase,
    Prefix,
    Required,
    Rule,
    Rules,
    Tree,
)
from regard.tasks.baselines import Baseline
from regard.tasks.unknowns import Copying
from regard.text import Borrowing, LanguageTokenizers, Tags, TargetTokenizer, Tokenizer, encode_targets
from regard.text.borrowing import Window
from regard.text.languages import LanguageTokenizer
from regard.text.surrogates import without_surrogates
from regard.text.tokenizer import SPACE

log = logging.getLogger("regard")


@dataclass(frozen=True)
class Corpus:
    """Training pairs that are drawn together."""

    name: str
    pairs: Callable[[], Iterable[Pair]] = field(repr=False)
    weight: float = 1.0  # how much more often it is drawn than its size says
    language: str | None = None  # of the targets, where there are several


@dataclass(frozen=True)
class Examples:
    """The pairs of a task. `train` is read again and again, so it need not fit into memory."""

    train: Callable[[], Iterable[Pair]] = field(repr=False)
    validation: Sequence[Pair] = field(repr=False)
    test: Sequence[Pair] = field(repr=False)
    note: str | None = None  # what a person should know of them
    cases: Callable[[Iterable[Pair]], list[Case]] = (
        by_pair  # what is asked of held-out pairs, and what is right
    )
    reports: Callable[[], Sequence[str]] = list  # what was left out of them; known once `train` was read
    corpora: Sequence[Corpus] = ()  # what `train` is made of, where parts of it are drawn more or less often
    temperature: float = 1.0  # above 1, small corpora are drawn more often
    languages: tuple[str, ...] = ()  # of the targets, where a source says which one it wants
    marks: tuple[str, ...] = ()  # other tags of the pairs
    baselines: Sequence[Baseline] = ()  # answers that need no model


class Task(Protocol):
    """An application: its pairs, and how its answers are drawn and scored."""

    @property
    def view(self) -> View: ...

    @property
    def target_language(self) -> str | None:
        """For metrics that need to know it."""
        ...

    def examples(self) -> Examples: ...


@dataclass(frozen=True)
class OwnFiles:
    """A person's own pairs; validation and test are split off the training pairs, if any, where they are missing."""

    train: Sequence[PairFile]
    validation: Sequence[PairFile]
    test: Sequence[PairFile]
    filters: Filters = field(
        default_factory=Filters
    )  # of the training pairs, and so of what is split off them
    skip_bad_lines: bool = False  # lines that are no pairs are counted instead of being an error

    def examples(
        self, *, validation: int, test: int, seed: int, key: Side, also: Side | None = None
    ) -> Examples:
        """`validation` and `test` are the sizes to split off. No two of the three will share a text of the side
        `key`, nor of `also` where there is one: training pairs that share one with given validation or test pairs
        are left out.
        """
        readers = [PairReader(files, skip=self.skip_bad_lines) for files in (self.validation, self.test)]
        given_validation, given_test = (list(reader()) if reader.files else [] for reader in readers)
        skipped = [f"{reader}: {reader.skipped}" for reader in readers if reader.skipped.reasons]
        if not self.train:
            return Examples(list, given_validation, given_test, reports=lambda: skipped)
        found = select(
            Wanted(
                self.train,
                self.filters,
                self.skip_bad_lines,
                validation=0 if given_validation else validation,
                test=0 if given_test else test,
                seed=seed,
                key=key,
                also=also,
                held=(*given_validation, *given_test),
            )
        )
        reports = [*([found.skipped] if found.skipped else []), *skipped, *found.reports]
        return Examples(
            found.train,
            given_validation or found.validation,
            given_test or found.test,
            reports=lambda: reports,
        )


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

    @property
    def sizes(self) -> dict[str, int]:
        """Different ids on each side."""
        source = len(self.source) + len(self.tags)
        return {"source": source, "target": source if self.target is self.source else len(self.target)}

    def front(self, request: Request) -> list[int]:
        """What stands before the source's pieces; a UserError where it is not known what language is wanted."""
        known = ", ".join(self.languages)
        if request.to is None and self.languages:
            raise UserError(f"the model answers in {known}: say which you want (--to on the command line)")
        if request.to is not None and request.to not in self.languages:
            raise UserError(
                f"the model does not answer in {request.to!r}, but in {known}"
                if known
                else f"the model knows one language to answer in, and is not asked for {request.to!r} or another"
            )
        return [] if request.to is None else self.tags.ids([request.to])

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """A row for each text: its pieces and the end mark. An empty row for a text with nothing in it.

        Of what is longer than the model was trained for a part is read, with a warning: one line in, one line out.
        """
        whole = self.source.encode_many(texts)
        _warn("source", self.limits.source, zip(texts, map(len, whole), strict=True))
        read = self.borrowing.sources(texts) if self.borrowing else map(self.limits.window, whole)
        return [[*ids, END] if text.strip() else [] for text, ids in zip(texts, read, strict=True)]

    def encode_targets(
        self, texts: Sequence[str], sources: Sequence[str], to: str | None = None
    ) -> list[list[int]]:
        """A row for each text that a model is told as its answer to a source, in the language `to`.

        It has the text's pieces and the end mark. What is longer than the model was trained for is cut, with a
        warning, and does not end then.
        """
        longest = self.limits.target
        if self.borrowing:
            whole = self.borrowing.targets(texts, sources)
        else:
            whole = encode_targets(self.target, texts, [to] * len(texts))
        _warn("target", longest, zip(texts, map(len, whole), strict=True))
        return [[*ids, END] if len(ids) <= longest else ids[:longest] for ids in whole]

    def collate(self, rows: Sequence[Sequence[int]]) -> Tokens:
        return Tokens.pad(rows)

    def rules(self, request: Request) -> Rules:
        """What the request asks of the answer, in pieces; a UserError where the model has no pieces for it."""
        rules: list[Rule] = []
        sequence = partial(self._sequence, to=request.to)
        if isinstance(self.target, LanguageTokenizers) and request.to is not None:
            rules.append(Outside(self.target.others(request.to)))
        if request.prefix:
            rules.append(Prefix(sequence(request.prefix)))
        if request.forbid:
            rules.append(Forbidden(tuple(sequence(phrase) for phrase in request.forbid)))
        if request.require:
            phrases = [
                Phrase((sequence(text),), self._boundary(text), repr(text)) for text in request.require
            ]
            rules.append(Required.of(phrases, end=END))
        return tuple(rules)

    def _sequence(self, phrase: str, to: str | None) -> tuple[int, ...]:
        ids = tuple(encode_targets(self.target, [phrase], [to])[0])
        if not ids or UNKNOWN in ids:
            raise UserError(f"the model has no pieces for {phrase!r}")
        return ids

    def _boundary(self, phrase: str) -> frozenset[int] | None:
        """What may stand behind a phrase so that its last word ends there; None where words have no borders."""
        last = phrase[-1]
        if not (last.isdigit() or last.islower() or last.isupper()):
            return None
        return self._word_ends if len(self._word_ends) > 1 else None  # a vocabulary may know no borders

    @cached_property
    def _word_ends(self) -> frozenset[int]:
        names = self.target.pieces(range(len(self.target)))
        return frozenset(
            number
            for number, name in enumerate(names)
            if number == END or (number >= len(SPECIAL_PIECES) and not name[0].isalnum() and name[0] != "<")
        )

    def answer(self, text: str, row: Sequence[int], found: Found) -> Prediction:
        """The best hypothesis, with the others as its alternatives."""
        if not found.hypotheses:
            return self.nothing(text, problem="no answer keeps all the rules")
        best, *others = (self.decode(text, row, hypothesis) for hypothesis in found.hypotheses)
        return replace(best, alternatives=tuple(others), beam=self._beam(text, found.tree))

    def _beam(self, source: str, tree: Tree | None) -> tuple[BeamNode, ...] | None:
        if tree is None:
            return None
        names = self._names(source, [node.piece for node in tree.nodes])
        return tuple(
            BeamNode(node.parent, name, node.score, node.rank, node.fate, node.step)
            for node, name in zip(tree.nodes, names, strict=True)
        )

    def decode(self, text: str, row: Sequence[int], hypothesis: Hypothesis) -> Prediction:
        tokens = self._spoken(hypothesis.tokens)
        sizes = {
            ENCODER: (len(row), len(row)),
            CROSS: (None, len(row)),
            DECODER: (None, None),
        }  # without padding
        weights = {
            kind: looks[..., : sizes[plain_kind(kind)][0], : sizes[plain_kind(kind)][1]].float().cpu().numpy()
            for kind, looks in hypothesis.attention.items()
        }
        pieces = self._names(text, hypothesis.tokens)
        front = self.tags.shown(row)
        names = (*front, *self._source_names(text, row[len(front) :]))
        words = (self._words(text, row, len(front)), self.target.words_of(tokens)) if weights else ()
        record = AttentionRecord(names, pieces, weights, *words)
        copies = self._copies(tokens, record) | self._borrowed(text, hypothesis.tokens)
        if copies:
            record = replace(record, target_words=self.target.words_of(tokens, copies) if weights else None)
        return Prediction(
            source=text,
            text=self.target.decode(tokens, copies),
            pieces=pieces[:-1] if hypothesis.finished else pieces,
            score=hypothesis.score,
            attention=record,
            finished=hypothesis.finished,
            rank=hypothesis.rank,
            piece_scores=hypothesis.steps,
            likeliest=tuple(map(self._likeliest, hypothesis.likeliest)),
            view=self.view,
        )

    def _likeliest(self, step: Likeliest) -> tuple[tuple[str, float], ...]:
        names = self.target.pieces(self._spoken([piece for piece, _ in step]))
        return tuple((name, math.exp(score)) for name, (_, score) in zip(names, step, strict=True))

    def _words(self, text: str, row: Sequence[int], front: int) -> Words:
        """The words of a source by its row; what stands before it is part of none."""
        read = _read(self.source, text, row[front:], self.limits.window)
        return Words(read.texts, (*(None for _ in range(front)), *read.of))

    def _spoken(self, tokens: Sequence[int]) -> list[int]:
        """Tags are in the table of a tokenizer for both sides, but nobody says them."""
        return [token if token < len(self.target) else UNKNOWN for token in tokens]

    def _copies(self, tokens: Sequence[int], record: AttentionRecord) -> dict[int, str]:
        """Where unknown pieces stand, what is said instead."""
        if self.copying is None or not record.kinds:
            return {}
        return {
            step: self.target.spaced(self.copying.word(record, step))
            for step, token in enumerate(tokens)
            if token == UNKNOWN
        }

    def _borrowed(self, text: str, tokens: Sequence[int]) -> dict[int, str]:
        """Where words of the source stand that the vocabulary does not know, those words."""
        if self.borrowing is None or max(tokens, default=0) < self.borrowing.first:
            return {}
        words, first = self.borrowing.words(text), self.borrowing.first
        return {step: words[token - first] for step, token in enumerate(tokens) if token >= first}

    def _names(self, text: str, tokens: Sequence[int]) -> tuple[str, ...]:
        """Of an answer's pieces, made to be looked at; a word that was borrowed has its own."""
        borrowed = self._borrowed(text, tokens)
        names = self.target.pieces(self._spoken(tokens))
        return tuple(
            borrowed[step].replace(" ", SPACE) if step in borrowed else name
            for step, name in enumerate(names)
        )

    def _source_names(self, text: str, row: Sequence[int]) -> tuple[str, ...]:
        return self._names(text, row) if self.borrowing else self.source.pieces(row)

    def forced(self, text: str, row: Sequence[int], target: str, hypothesis: Hypothesis) -> Prediction:
        """Like `decode`, for an answer that was given: it reads as it was written."""
        answer = self.decode(text, row, hypothesis)
        tokens = hypothesis.tokens
        speaker = self.target if isinstance(self.target, Tokenizer) else self.target.that_says(tokens)
        words = _read(speaker, target, tokens) if hypothesis.attention else None
        return replace(answer, text=target, attention=replace(answer.attention, target_words=words))

    def nothing(self, text: str, *, problem: str | None = None) -> Prediction:
        """The answer to a source with nothing in it: nothing, and certainly so. Or to one that has a problem."""
        weights = {"cross": np.zeros((1, 1, 0, 0), dtype=np.float32)}  # it never looked
        record = AttentionRecord((), (), weights, Words((), ()), Words((), ()))
        return Prediction(
            source=text, text="", pieces=(), score=0.0, attention=record, problem=problem, view=self.view
        )

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


def _warn(side: str, longest: int, texts: Iterable[tuple[str, int]]) -> None:
    """Of texts, with their numbers of pieces, that are too long."""
    for text, pieces in texts:
        if pieces > longest:
            log.warning(
                "A %s of %d pieces was cut to %d (data.max_%s): %s...",
                side,
                pieces,
                longest,
                side,
                without_surrogates(text[:40]),
                extra={"counted_as": f"{side}s were cut to {longest} pieces"},
            )


def _read(
    tokenizer: Tokenizer | LanguageTokenizer, text: str, row: Sequence[int], window: Window = tuple
) -> Words:
    """The words of a text by its row, which may be a part of it and may have an end mark."""
    words = tokenizer.words(text)
    marks = (None,) if row[-1] == END else ()
    return Words(words.texts, (*window(words.of)[: len(row) - len(marks)], *marks))


SHARED, SOURCE, TARGET = "tokenizer.json", "source.tokenizer.json", "target.tokenizer.json"
TAGS = "tags.json"


def _of_language(language: str) -> str:
    return f"target.{language}.tokenizer.json"
