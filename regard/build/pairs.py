"""The task with its pairs, and the way from texts to rows of ids."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from regard.config import Config, Files, Pieces, TwoFiles
from regard.config import data as settings_of
from regard.core.errors import UserError
from regard.data import Filters, JsonlFile, Limits, PairFile, ParallelFiles, TsvFile, located
from regard.run import ModelFolder
from regard.tasks.dates import Dates
from regard.tasks.dictionaries import DictionaryFile
from regard.tasks.multilingual import Multilingual, TwoLanguages
from regard.tasks.pronounce import Pronounce
from regard.tasks.text import Examples, OwnFiles, Task, TextCodec
from regard.tasks.translation import Translation
from regard.text import READERS, TOKENIZERS, BpeDropout, Recutter, Tokenizer, UnigramSampling


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
    return Limits(source=config.data.max_source, target=config.data.max_target)


def learn_codec(config: Config, examples: Examples) -> TextCodec:
    """Tokenizers learned from the training pairs, or read."""
    text = config.text
    if text.shared:
        texts = (side for pair in examples.train() for side in (pair.source, pair.target))
        source = target = _learn(text.source, texts)
    else:
        source = _learn(text.source, (pair.source for pair in examples.train()))
        target = _learn(text.target, (pair.target for pair in examples.train()))
    return TextCodec(
        source,
        target,
        limits(config),
        task(config).view,
        languages=examples.languages,
        marks=examples.marks,
    )


def _learn(pieces: Pieces, texts: Iterable[str]) -> Tokenizer:
    if pieces.file is not None:
        return READERS[pieces.kind](located(pieces.file))
    learn = TOKENIZERS[pieces.kind]
    return learn(
        texts,
        vocabulary=pieces.vocabulary,
        normalization=pieces.normalization,
        lowercase=pieces.lowercase,
    )


def recutters(config: Config, codec: TextCodec) -> dict[str, Recutter]:
    """For each side that is to be cut into other pieces each time, what does it."""
    text, most = config.text, limits(config)
    sides = {
        "source": (text.source, codec.source, most.source),
        "target": (text.target, codec.target, most.target),
    }
    found: dict[str, Recutter] = {}
    for side, (pieces, tokenizer, longest) in sides.items():
        if pieces.dropout:
            found[side] = BpeDropout(tokenizer, pieces.dropout, longest=longest)
        elif pieces.sampling is not None:
            found[side] = UnigramSampling(tokenizer, pieces.sampling, longest=longest)
    return found


def load_codec(config: Config, folder: ModelFolder) -> TextCodec:
    return TextCodec.load(folder.folder, limits(config), task(config).view)
