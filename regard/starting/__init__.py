"""A configuration to start from, made for the pairs at hand, in which every number says why."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from regard import build
from regard.config import Config, parse_config
from regard.core.errors import UserError, did_you_mean
from regard.data import PairReader, Survey, TooFewError, look
from regard.starting.choosing import Choice
from regard.starting.writing import written
from regard.tasks.examples import Examples

__all__ = ["Start", "start"]

_ORIGIN = "regard new"


@dataclass(frozen=True)
class Start:
    """A configuration for some pairs, and what was seen in them."""

    text: str = field(repr=False)  # TOML
    config: Config
    surveys: Mapping[str, Survey]  # of train, and of validation and test where they were given
    reports: Sequence[str]  # what is skipped and left out
    parameters: int


TASKS = ("translation", "dates", "summarise")  # those that need nothing but pairs
OWN = {  # where the others have a person's own data
    "captions": "Your own pictures go into task.folder.",
    "forecast": "Your own tracks go into data.train, and task.values names their columns.",
    "multilingual": "Your own files go into task.corpora.",
    "pronounce": "Your own dictionary goes into data.train.",
}


def start(
    task: str, data: Mapping[str, Any], languages: tuple[str | None, str | None] = (None, None)
) -> Start:
    """Looks at pairs and chooses; nothing is written. `data` are settings of [data]: files, and how they are read."""
    if task not in build.TASKS:
        raise UserError(f"There is no task {task!r}.{did_you_mean(task, build.TASKS)}")
    if task not in TASKS:
        raise UserError(
            f"A configuration for the task {task} can't be made from pairs alone. Start from a recipe: "
            f"`regard recipes` lists them, and `regard config show NAME` writes one out. {OWN[task]}"
        )
    if data.get("train") is None:
        raise UserError(
            "There are no pairs to look at. Give a file with --train, or two with --source and --target."
        )
    asked = parse_config({"task": {"name": task}, "data": dict(data)}, origin=_ORIGIN)
    surveys = _look(asked)
    choice = Choice(task, list(type(asked.task).model_fields), data, languages, surveys["train"])
    text, config, examples = _fitted(choice)
    for _ in examples.train():  # then the reports are known
        pass
    size = build.parameters(config, vocabulary=config.text.source.vocabulary)
    return Start(text, config, surveys, examples.reports(), size)


def _look(asked: Config) -> dict[str, Survey]:
    own = build.own_files(asked)
    assert own is not None, "data.train was given"
    files = {"train": own.train, "validation": own.validation, "test": own.test}
    return {name: look(PairReader(some, skip=own.skip_bad_lines)()) for name, some in files.items() if some}


def _fitted(choice: Choice) -> tuple[str, Config, Examples]:
    """With parts to split off that are no larger than the pairs allow."""
    sizes = choice.sizes()
    while True:
        text = written(choice.sections(sizes))
        config = parse_config(tomllib.loads(text), origin=_ORIGIN)
        try:
            return text, config, build.task(config).examples()
        except TooFewError as error:
            if not error.possible:
                raise UserError(
                    f"There are too few different pairs to set some apart for {error.part}. "
                    f"Give a file of its own with --{error.part}."
                ) from None
            sizes[error.part] = error.possible
