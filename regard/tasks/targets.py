"""Answers that are texts: what may be asked of them, and how hypotheses become predictions."""

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from regard.core.errors import UserError
from regard.core.kinds import CROSS
from regard.core.pieces import END, SPECIAL_PIECES, UNKNOWN
from regard.core.prediction import AttentionRecord, BeamNode, Prediction, Request, View, trimmed
from regard.core.surrogates import without_surrogates
from regard.core.words import Words
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
from regard.tasks.codec import Shown
from regard.tasks.unknowns import Copying
from regard.text import LanguageTokenizers, TargetTokenizer, Tokenizer, encode_targets
from regard.text.borrowing import Window
from regard.text.languages import LanguageTokenizer
from regard.text.tokenizer import SPACE

UNKNOWN_WORD = SPECIAL_PIECES[UNKNOWN]

log = logging.getLogger("regard")


@dataclass(frozen=True)
class TextTargets:
    """Texts to rows of ids, and hypotheses back to texts."""

    tokenizer: TargetTokenizer
    longest: int  # pieces that a model was trained to say, without the end mark
    view: View
    copying: Copying | None = None  # what becomes of unknown pieces; None: they are left out

    def encode(self, texts: Sequence[str], to: str | None = None) -> list[list[int]]:
        """A row for each text, in the language `to`: as `ended` makes it."""
        return self.ended(texts, encode_targets(self.tokenizer, texts, [to] * len(texts)))

    def ended(self, texts: Sequence[str], rows: Sequence[Sequence[int]]) -> list[list[int]]:
        """Rows of texts with the end mark. What is longer than the model was trained for is cut, with a warning,
        and does not end then.
        """
        warn_of_length("target", self.longest, zip(texts, map(len, rows), strict=True))
        return [[*ids, END] if len(ids) <= self.longest else list(ids[: self.longest]) for ids in rows]

    def rules(self, request: Request) -> Rules:
        """What the request asks of the answer, in pieces; a UserError where the model has no pieces for it."""
        rules: list[Rule] = []
        sequence = partial(self._sequence, to=request.to)
        if isinstance(self.tokenizer, LanguageTokenizers) and request.to is not None:
            rules.append(Outside(self.tokenizer.others(request.to)))
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
        ids = tuple(encode_targets(self.tokenizer, [phrase], [to])[0])
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
        names = self.tokenizer.pieces(range(len(self.tokenizer)))
        return frozenset(
            number
            for number, name in enumerate(names)
            if number == END or (number >= len(SPECIAL_PIECES) and not name[0].isalnum() and name[0] != "<")
        )

    def answer(self, source: Shown, found: Found) -> Prediction:
        """The best hypothesis, with the others as its alternatives."""
        if not found.hypotheses:
            return self.nothing(source.text, problem="no answer keeps all the rules")
        best, *others = (self.decode(source, hypothesis) for hypothesis in found.hypotheses)
        if not others and found.tree is None:
            return best
        return replace(best, alternatives=tuple(others), beam=self._beam(source, found.tree))

    def _beam(self, source: Shown, tree: Tree | None) -> tuple[BeamNode, ...] | None:
        if tree is None:
            return None
        names = self._names(source, [node.piece for node in tree.nodes])
        return tuple(
            BeamNode(node.parent, name, node.score, node.rank, node.fate, node.step)
            for node, name in zip(tree.nodes, names, strict=True)
        )

    def decode(self, source: Shown, hypothesis: Hypothesis) -> Prediction:
        tokens = self._spoken(hypothesis.tokens)
        weights = trimmed(hypothesis.attention, source=len(source.names))
        pieces = self._names(source, hypothesis.tokens)
        words = (source.words, self.tokenizer.words_of(tokens)) if weights else ()
        record = AttentionRecord(source.names, pieces, weights, *words)
        copies = self._instead(tokens, record) | _borrowed(source, hypothesis.tokens)
        if copies:
            record = replace(
                record, target_words=self.tokenizer.words_of(tokens, copies) if weights else None
            )
        return Prediction(
            source=source.text,
            text=self.tokenizer.decode(tokens, copies),
            pieces=pieces[:-1] if hypothesis.finished else pieces,
            score=hypothesis.score,
            attention=record,
            finished=hypothesis.finished,
            rank=hypothesis.rank,
            piece_scores=hypothesis.steps,
            likeliest=tuple(map(self._likeliest, hypothesis.likeliest)),
            unread=source.unread,
            view=self.view,
        )

    def said(self, source: Shown, tokens: Sequence[int]) -> tuple[tuple[str, ...], str]:
        """The pieces of an answer that is not finished yet, and its text so far."""
        spoken = self._spoken(tokens)
        text = self.tokenizer.decode(spoken, self._instead(spoken) | _borrowed(source, tokens))
        return self._names(source, tokens), text

    def _likeliest(self, step: Likeliest) -> tuple[tuple[str, float], ...]:
        names = self.tokenizer.pieces(self._spoken([piece for piece, _ in step]))
        return tuple((name, math.exp(score)) for name, (_, score) in zip(names, step, strict=True))

    def _spoken(self, tokens: Sequence[int]) -> list[int]:
        """Tags are in the table of a tokenizer for both sides, but nobody says them."""
        pieces = len(self.tokenizer)
        return [token if token < pieces else UNKNOWN for token in tokens]

    def _instead(self, tokens: Sequence[int], record: AttentionRecord | None = None) -> dict[int, str]:
        """What is said where unknown pieces stand: the word that was looked at or, if nothing is copied, that it is
        unknown; an answer with a hole would read as if there were none.
        """
        copying = self.copying if record is not None and record.has(CROSS) else None
        return {
            step: self.tokenizer.spaced(copying.word(record, step) if copying and record else UNKNOWN_WORD)
            for step, token in enumerate(tokens)
            if token == UNKNOWN
        }

    def _names(self, source: Shown, tokens: Sequence[int]) -> tuple[str, ...]:
        """Of an answer's pieces, made to be looked at; a word that was borrowed has its own."""
        borrowed = _borrowed(source, tokens)
        names = self.tokenizer.pieces(self._spoken(tokens))
        if not borrowed:
            return names
        return tuple(
            borrowed[step].replace(" ", SPACE) if step in borrowed else name
            for step, name in enumerate(names)
        )

    def forced(self, source: Shown, target: str, hypothesis: Hypothesis) -> Prediction:
        """Like `decode`, for an answer that was given: it reads as it was written."""
        answer = self.decode(source, hypothesis)
        tokens, tokenizer = hypothesis.tokens, self.tokenizer
        speaker = tokenizer if isinstance(tokenizer, Tokenizer) else tokenizer.that_says(tokens)
        words = words_read(speaker, target, tokens) if hypothesis.attention else None
        return replace(answer, text=target, attention=replace(answer.attention, target_words=words))

    def nothing(self, text: str, *, problem: str | None = None) -> Prediction:
        """The answer to a source with nothing in it: nothing, and certainly so. Or to one that has a problem."""
        weights = {"cross": np.zeros((1, 1, 0, 0), dtype=np.float32)}  # it never looked
        record = AttentionRecord((), (), weights, Words((), ()), Words((), ()))
        return Prediction(
            source=text, text="", pieces=(), score=0.0, attention=record, problem=problem, view=self.view
        )


def _borrowed(source: Shown, tokens: Sequence[int]) -> dict[int, str]:
    """Where words of the source stand that the vocabulary does not know, those words."""
    lent = source.lent
    return {step: lent[token] for step, token in enumerate(tokens) if token in lent} if lent else {}


def warn_of_length(side: str, longest: int, texts: Iterable[tuple[str, int]]) -> None:
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
                extra={"counted_as": f"{side}s were cut to {longest} pieces", "told_of": text},
            )


def words_read(
    tokenizer: Tokenizer | LanguageTokenizer, text: str, row: Sequence[int], window: Window = tuple
) -> Words:
    """The words of a text by its row, which may be a part of it and may have an end mark."""
    words = tokenizer.words(text)
    marks = (None,) if row[-1] == END else ()
    return Words(words.texts, (*window(words.of)[: len(row) - len(marks)], *marks))
