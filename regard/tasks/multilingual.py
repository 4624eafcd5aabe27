"""Sentences of several languages into each other with one model: a tag before the source says which is wanted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import ClassVar

from regard.core.errors import UserError
from regard.core.prediction import View
from regard.data import Pair, SelectedPairs, left_out_for_sharing
from regard.tasks.directions import Direction
from regard.tasks.examples import Corpus, Examples, OwnFiles
from regard.viewing import TextView


@dataclass(frozen=True)
class TwoLanguages:
    """Pairs of two languages, used in one direction or in both, or of one language with itself."""

    source_language: str
    target_language: str
    own: OwnFiles  # without training pairs, its directions are only scored
    both: bool = True
    weight: float = 1.0
    other_weight: float | None = None  # of the other direction, where it is another
    mark: str | None = None  # a second tag, such as one for sources that a model made

    @property
    def of_one(self) -> bool:
        """From a language into itself: what keeps a model from taking the language of a source for that of the
        answer.
        """
        return self.source_language == self.target_language

    def directions(self) -> Iterator[Direction]:
        yield Direction(self.source_language, self.target_language, turned=False, mark=self.mark)
        if self.both and not self.of_one:
            yield Direction(self.target_language, self.source_language, turned=True, mark=self.mark)

    def weight_of(self, direction: Direction) -> float:
        return self.other_weight if direction.turned and self.other_weight is not None else self.weight


@dataclass(frozen=True)
class Multilingual:
    no_other_pairs: ClassVar[str | None] = (
        "a file of pairs does not say from which language into which each of them goes"
    )
    corpora: Sequence[TwoLanguages]
    temperature: float
    validation: int  # pairs of each direction, at the most
    test: int
    seed: int
    view: View = field(default_factory=TextView)
    target_language: str | None = None  # there are several

    def examples(self) -> Examples:
        """No source of a training pair is one of validation or test, in whatever direction."""
        found = [self._of(corpus) for corpus in self.corpora]
        validation = self._directed([one.validation[: self.validation] for one in found])
        test = self._directed([one.test for one in found])
        if not validation:
            raise UserError("There are no pairs for validation: give train or validation to one corpus.")
        held = {pair.source for pair in (*validation, *test)}
        corpora, reports = [], [report for one in found for report in one.reports()]
        for corpus, one in zip(self.corpora, found, strict=True):
            if not isinstance(one.train, SelectedPairs):
                continue  # it has no training pairs
            for direction in corpus.directions():
                free = one.train.changed(direction).without(held)
                made = Corpus(
                    str(direction), free, corpus.weight_of(direction), direction.target, corpus.mark
                )
                corpora.append(made)
                if shared := len(one.train) - len(free):
                    reports.append(f"{made}: {left_out_for_sharing(shared)}")
        return Examples(
            lambda: chain.from_iterable(corpus.pairs() for corpus in corpora),
            validation,
            test,
            reports=lambda: reports,
            corpora=corpora,
            temperature=self.temperature,
            languages=self._languages(),
            marks=tuple(sorted({corpus.mark for corpus in self.corpora if corpus.mark})),
        )

    def _of(self, corpus: TwoLanguages) -> Examples:
        for_training = corpus.mark is not None or corpus.of_one  # nobody scores what a model made, or copies
        own = corpus.own
        if corpus.of_one:
            own = replace(own, filters=replace(own.filters, identical=False))  # as both sides shall be
        return own.examples(
            validation=0 if for_training else self.validation,
            test=0 if for_training else self.test,
            seed=self.seed,
            key="source",
        )

    def _directed(self, parts: Sequence[Sequence[Pair]]) -> list[Pair]:
        return [
            direction(pair)
            for corpus, pairs in zip(self.corpora, parts, strict=True)
            for direction in replace(corpus, mark=None).directions()
            for pair in pairs
        ]

    def _languages(self) -> tuple[str, ...]:
        return tuple(
            sorted({direction.target for corpus in self.corpora for direction in corpus.directions()})
        )
