"""Tasks by their settings, with the files of their pairs."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from regard.config import Config, Files, TwoFiles
from regard.config import data as settings_of
from regard.core.errors import UserError
from regard.data import Filters, JsonlFile, PairFile, ParallelFiles, TsvFile, located
from regard.data.series import Columns
from regard.tasks.captions import Captions
from regard.tasks.dates import Dates
from regard.tasks.dictionaries import DictionaryFile
from regard.tasks.examples import OwnFiles, Task
from regard.tasks.multilingual import Multilingual, TwoLanguages
from regard.tasks.pronounce import Pronounce
from regard.tasks.summaries import Summaries
from regard.tasks.trajectories import OwnTracks, Trajectories
from regard.tasks.translation import Translation
from regard.viewing import PathView


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


def _summarise(config: Config, settings: settings_of.Summarise) -> Summaries:
    own = own_files(config)
    assert own is not None, "a configuration for summaries has data.train"
    return Summaries(
        own,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
        target_language=settings.language,
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
                other_weight=corpus.other_weight,
                mark=corpus.mark,
            )
            for corpus in settings.corpora
        ],
        temperature=settings.temperature,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
    )


def _captions(config: Config, settings: settings_of.Captions) -> Captions:
    return Captions(
        settings.folder,
        filters=_filters(config),
        skip_bad_lines=config.data.on_bad_line == "skip",
        scenes=settings.scenes,
        size=settings.size,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
    )


def _forecast(config: Config, settings: settings_of.Forecast) -> Trajectories:
    return Trajectories(
        settings.made,
        pairs=settings.pairs,
        scene=settings.scene,
        folder=located(settings.folder) if settings.scene is not None else Path(),
        own=_own_tracks(config, settings),
        observed=settings.observed,
        predicted=settings.predicted,
        stride=settings.stride,
        validation=config.data.validation_size,
        test=config.data.test_size,
        seed=config.data.seed,
        alone=settings.context is False,
        view=PathView(),
    )


def _own_tracks(config: Config, settings: settings_of.Forecast) -> OwnTracks | None:
    data = config.data
    if data.train is None:
        return None
    columns = None
    if settings.values:
        columns = Columns(tuple(settings.values), settings.series, settings.order, tuple(settings.beside))
    train, validation, test = (
        [located(name) for name in _names(files)] for files in (data.train, data.validation, data.test)
    )
    return OwnTracks(train, validation, test, columns, settings.step)


def _names(files: Files | None) -> list[str]:
    several = files if isinstance(files, list) else [] if files is None else [files]
    if any(not isinstance(one, str) for one in several):
        raise UserError("A series is read from one file, .csv or .npz: data.train = 'tracks.csv'.")
    return [one for one in several if isinstance(one, str)]


TASKS: dict[str, Callable[[Config, Any], Task]] = {
    "dates": _dates,
    "translation": _translation,
    "pronounce": _pronounce,
    "multilingual": _multilingual,
    "summarise": _summarise,
    "captions": _captions,
    "forecast": _forecast,
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
    return OwnFiles(
        _pair_files(config, files.train, lines),
        _pair_files(config, files.validation, lines),
        _pair_files(config, files.test, lines),
        filters=_filters(config),
        skip_bad_lines=data.on_bad_line == "skip",
    )


def _filters(config: Config) -> Filters:
    chosen = config.data.filter
    scripts = {side: tuple(getattr(chosen, side)) for side in ("source_scripts", "target_scripts")}
    return Filters(**{**chosen.model_dump(), **scripts})


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
