"""Pairs that a model is scored on: its own, or those of other files."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from regard import build
from regard.config import Config, TwoFiles
from regard.core.errors import UserError
from regard.data import Pair, compared, fingerprint
from regard.engines import find_folder
from regard.tasks.examples import Examples

log = logging.getLogger("regard")

Given = str | Path | tuple[str | Path, str | Path]  # a file of pairs, or one of sources and one of targets


def check_held(
    held: Sequence[Pair], split: str, runs: Sequence[str | Path], against: str | Path | None
) -> None:
    """A UserError where they are other pairs than the runs were trained beside."""
    now = fingerprint(pair.texts for pair in held)
    for one in runs:
        if fingerprint_of(one, split) != now:
            raise UserError(
                f"The {split} pairs are not the ones that {one} was trained beside, so some may have been trained "
                "on. Bring the old data back, or train again."
            )
    if against is not None and fingerprint_of(against, split) != now:
        raise UserError(
            f"{against} has other {split} pairs than {runs[0]}, so their answers cannot be compared one by one. "
            "Compare runs that were trained with the same data settings."
        )


def check_tasks(runs: Sequence[str | Path]) -> None:
    """A UserError where a file of pairs is nothing to score one of them on."""
    for run in runs:
        config = find_folder(run).config()
        if reason := build.task(config).no_other_pairs:
            raise UserError(
                f"{run}: the task {config.task.name} is scored on pairs of its own alone, because {reason}."
            )


def given(path: str | Path, config: Config, pairs: Given, on_bad_line: str | None) -> Examples:
    """Other test pairs, read and asked as the task does it with its own; with the training pairs, if they are there."""
    file = TwoFiles(source=str(pairs[0]), target=str(pairs[1])) if isinstance(pairs, tuple) else str(pairs)
    changes: dict[str, object] = {"train": [], "validation": None, "test": file} | (
        {"on_bad_line": on_bad_line} if on_bad_line else {}
    )
    data = config.data.model_copy(update=changes)
    examples = build.task(config.model_copy(update={"data": data})).examples()
    for report in examples.reports():
        log.warning("%s.", report)
    try:
        train = _trained_on(path, config)
    except UserError as error:
        log.warning(
            "Which sources were trained on is not known, and quality by frequency is left out, because the training "
            "pairs are not at hand: %s",
            error,
        )
        return replace(examples, in_words=False, baselines=())
    _warn_of_trained([case.source for case in examples.cases(examples.test)], train(), name_of(pairs))
    return replace(examples, train=train)


def name_of(pairs: Given) -> str:
    """By its file, or by both."""
    return " and ".join(Path(one).name for one in (pairs if isinstance(pairs, tuple) else (pairs,)))


def _trained_on(path: str | Path, config: Config) -> Callable[[], Iterable[Pair]]:
    """The training pairs of a run; a UserError where they are gone, or others have taken their place."""
    own = build.task(config).examples()
    for split, held in (("validation", own.validation), ("test", own.test)):
        if fingerprint_of(path, split) != fingerprint(pair.texts for pair in held):
            raise UserError(f"{path} was trained with other files than are there now.")
    return own.train


def _warn_of_trained(sources: Sequence[str], train: Iterable[Pair], name: str) -> None:
    asked = set(map(compared, sources))
    trained = {source for pair in train if (source := compared(pair.source)) in asked}
    if count := sum(compared(source) in trained for source in sources):
        log.warning(
            "%s of the %s sources of %s were trained on: the scores say little of unseen ones.",
            f"{count:,}",
            f"{len(sources):,}",
            name,
        )


def fingerprint_of(path: str | Path, split: str) -> object:
    """Of the pairs of a split that a run was trained beside."""
    return find_folder(path).data().get(split, {}).get("fingerprint")
