"""The task with its pairs, and the way from texts to rows of ids."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import tokenizers

from regard import __version__
from regard.config import Config, Files, Pieces, TwoFiles
from regard.config import data as settings_of
from regard.core.errors import UserError
from regard.data import (
    Filters,
    JsonlFile,
    Limits,
    Pair,
    PairFile,
    ParallelFiles,
    SelectedPairs,
    Side,
    TsvFile,
    cache_folder,
    fingerprint,
    located,
    sample,
)
from regard.run import ModelFolder
from regard.tasks.codec import Codec
from regard.tasks.dates import Dates
from regard.tasks.dictionaries import DictionaryFile
from regard.tasks.examples import Examples, OwnFiles, Task
from regard.tasks.multilingual import Multilingual, TwoLanguages
from regard.tasks.pronounce import Pronounce
from regard.tasks.summaries import Summaries
from regard.tasks.text import TextCodec
from regard.tasks.translation import Translation
from regard.text import (
    READERS,
    TOKENIZERS,
    AfterTags,
    BpeDropout,
    LanguageTokenizers,
    Recutter,
    TargetTokenizer,
    Tokenizer,
    UnigramSampling,
)


def task(config: Config) -> Task:
    return TASKS[config.task.name](config, config.task)


def _dates(config: Config, settings: settings_of.Dates) -> Dates:
    return Dates(
        locales=settings.locales,
        years=settings.years,
        pairs=settings.pairs,
        together=settings.together,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
        own=own_files(config),
    )


def _translation(config: Config, settings: settings_of.Translation) -> Translation:
    own = own_files(config)
    assert own is not None, "a configuration for translation has data.train"
    return Translation(
        own,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
        split_by=config.data.split_by or "source",
        source_language=settings.source_language,
        target_language=settings.target_language,
    )


def _summarise(config: Config, _: settings_of.Summarise) -> Summaries:
    own = own_files(config)
    assert own is not None, "a configuration for summaries has data.train"
    return Summaries(
        own,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
    )


def _pronounce(config: Config, settings: settings_of.Pronounce) -> Pronounce:
    return Pronounce(
        own_files(config, DictionaryFile),
        stress=settings.stress,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
    )


def _multilingual(config: Config, settings: settings_of.Multilingual) -> Multilingual:
    return Multilingual(
        [
            TwoLanguages(
                corpus.source_language,
                corpus.target_language,
                _own(config, corpus),
                both=corpus.both,
                weight=corpus.weight,
                mark=corpus.mark,
            )
            for corpus in settings.corpora
        ],
        temperature=settings.temperature,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
    )


TASKS: dict[str, Callable[[Config, Any], Task]] = {
    "dates": _dates,
    "translation": _translation,
    "pronounce": _pronounce,
    "multilingual": _multilingual,
    "summarise": _summarise,
}


def own_files(config: Config, lines: Callable[[Path], PairFile] | None = None) -> OwnFiles | None:
    """The files of `data`; `lines` reads those that hold pairs in lines and are no JSON, instead of `TsvFile`."""
    data = config.data
    if data.train is None:
        if data.validation is not None or data.test is not None:
            raise UserError(
                "data.validation or data.test is given without data.train. Give the training pairs too."
            )
        return None
    return _own(config, data, lines)


def _own(
    config: Config,
    files: settings_of.Data | settings_of.TwoLanguages,
    lines: Callable[[Path], PairFile] | None = None,
) -> OwnFiles:
    data = config.data
    lines = lines or partial(TsvFile, columns=data.columns)
    scripts = {side: tuple(getattr(data.filter, side)) for side in ("source_scripts", "target_scripts")}
    return OwnFiles(
        _pair_files(config, files.train, lines),
        _pair_files(config, files.validation, lines),
        _pair_files(config, files.test, lines),
        filters=Filters(**{**data.filter.model_dump(), **scripts}),
        skip_bad_lines=data.on_bad_line == "skip",
    )


def _pair_files(config: Config, files: Files | None, lines: Callable[[Path], PairFile]) -> list[PairFile]:
    if files is None:
        return []
    return [_pair_file(config, one, lines) for one in (files if isinstance(files, list) else [files])]


def _pair_file(config: Config, file: str | TwoFiles, lines: Callable[[Path], PairFile]) -> PairFile:
    if not isinstance(file, str):
        return ParallelFiles(located(file.source), located(file.target))
    if file.removesuffix(".gz").endswith((".jsonl", ".json")):
        return JsonlFile(located(file), config.data.source_field, config.data.target_field)
    return lines(located(file))


def limits(config: Config) -> Limits:
    data = config.data
    read = None if data.long_source == "leave_out" else data.long_source
    return Limits(source=data.max_source, target=data.max_target, read=read)


def learn_codec(config: Config, examples: Examples) -> TextCodec:
    """Tokenizers learned from the training pairs, or from a sample of many, or read."""
    text = config.text
    target: TargetTokenizer
    parts = [corpus.pairs for corpus in examples.corpora] or [examples.train]
    parts = sample(parts, text.sample, config.data.seed)
    if text.shared:
        source = target = _learned(text.source, parts, ("source", "target"))
    else:
        source = _learned(text.source, parts, ("source",))
        target = (
            _learned_by_language(config, examples)
            if text.by_language
            else _learned(text.target, parts, ("target",))
        )
    return TextCodec(
        source,
        target,
        limits(config),
        task(config).view,
        languages=examples.languages,
        marks=examples.marks,
        borrows=config.model.attention.pointer,
    )


def _learned_by_language(config: Config, examples: Examples) -> LanguageTokenizers:
    found = {}
    for language in examples.languages:
        parts = [corpus.pairs for corpus in examples.corpora if corpus.language == language]
        if not parts:
            raise UserError(
                f"text.by_language: no training pairs have targets in {language!r}, so it has no pieces. Give some, or "
                "set it to false."
            )
        some = sample(parts, config.text.sample, config.data.seed)
        found[language] = _learned(config.text.target, some, ("target",))
    return LanguageTokenizers(found)


def _learned(
    pieces: Pieces, parts: Sequence[Callable[[], Iterable[Pair]]], sides: Sequence[Side]
) -> Tokenizer:
    """From some sides of some pairs; from the cache, where the same was learned from the same files before."""
    if pieces.file is not None:
        return READERS[pieces.kind](located(pieces.file))
    texts = (getattr(pair, side) for part in parts for pair in part() for side in sides)
    learn = partial(
        TOKENIZERS[pieces.kind],
        vocabulary=pieces.vocabulary,
        normalization=pieces.normalization,
        lowercase=pieces.lowercase,
    )
    names = [part.name for part in parts if isinstance(part, SelectedPairs)]
    if len(names) < len(parts):
        return learn(texts)
    how = [pieces.kind, str(pieces.vocabulary), pieces.normalization, str(pieces.lowercase)]
    name = fingerprint([[__version__, tokenizers.__version__], how, sides, names])
    path = cache_folder() / "tokenizers" / f"{name}.json"
    with suppress(UserError):
        return Tokenizer.load(path)
    tokenizer = learn(texts)
    tokenizer.save(path)
    return tokenizer


def recutters(config: Config, codec: Codec) -> dict[str, Recutter]:
    """For each side that is to be cut into other pieces each time, what does it."""
    if not isinstance(codec, TextCodec):
        return {}
    text, most = config.text, limits(config)
    sides = {
        "source": (text.source, codec.source, most.source),
        "target": (text.target, codec.target, most.target),
    }
    found: dict[str, Recutter] = {}
    for side, (pieces, tokenizer, longest) in sides.items():
        if not isinstance(tokenizer, Tokenizer):
            continue  # one for each language has neither
        if pieces.dropout:
            found[side] = AfterTags(BpeDropout(tokenizer, pieces.dropout, longest=longest), codec.tags)
        elif pieces.sampling is not None:
            found[side] = AfterTags(UnigramSampling(tokenizer, pieces.sampling, longest=longest), codec.tags)
    return found


def load_codec(config: Config, folder: ModelFolder) -> TextCodec:
    codec = TextCodec.load(folder.folder, limits(config), task(config).view)
    return replace(codec, borrows=config.model.attention.pointer)
