"""Under which conditions runs were compared, in words."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from regard.comparing.varying import UNLIMITED
from regard.config import Config
from regard.core.files import write_whole

RECORD = "conditions.json"  # in the run


@dataclass(frozen=True)
class Conditions:
    """What a training had of the machine."""

    threads: int
    processes: int  # that trained beside each other

    def __str__(self) -> str:
        beside = "one run at a time" if self.processes == 1 else f"{self.processes} runs beside each other"
        return f"{_threads(self.threads)} for each run, {beside}"


def note_conditions(run: Path, conditions: Conditions) -> None:
    """A run that was stopped may go on under others."""
    known = noted_conditions(run)
    if conditions not in known:
        write_whole(run / RECORD, json.dumps([asdict(one) for one in (*known, conditions)]) + "\n")


def noted_conditions(run: Path) -> list[Conditions]:
    """Nothing where nobody noted them."""
    try:
        found = json.loads((run / RECORD).read_text(encoding="utf-8"))
        return [Conditions(int(one["threads"]), int(one["processes"])) for one in found]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def budget(configs: Sequence[Config]) -> str:
    """What every run was given, in words."""
    given = list(dict.fromkeys((" or ".join(_limits(config)), _patience(config)) for config in configs))
    if len(given) > 1:
        return f"unequal: {', '.join(limits + patience for limits, patience in given)}"
    (limits, patience), *_ = given
    return f"{limits} each{patience}"


def _patience(config: Config) -> str:
    patience = config.training.patience
    return "" if patience is None else f" (less where {patience} validations bring nothing better)"


def _limits(config: Config) -> Iterator[str]:
    training = config.training
    if training.steps < UNLIMITED:
        yield f"{training.steps:,} steps"
    if training.tokens is not None:
        yield f"{training.tokens:,} target pieces"
    if training.minutes is not None:
        yield f"{training.minutes:g} minutes of training steps"


def conditions(devices: Sequence[torch.device], threads: int, runs: Sequence[Path]) -> str:
    """In words; `threads` are those of decoding, and how the runs were trained is what they noted."""
    kinds = dict.fromkeys("a CPU" if device.type == "cpu" else "a GPU" for device in devices)
    where = f"on {' and '.join(kinds)}"
    noted = [noted_conditions(run) for run in runs]
    different = list(dict.fromkeys(str(one) for every in noted for one in every))
    if not all(noted):
        return f"{where}, decoding with {_threads(threads)}; some runs were trained before"
    if len(different) > 1:
        return f"{where}, unequal: {'; '.join(different)}; decoding alone, with {_threads(threads)}"
    return f"{where}, {different[0]}; decoding alone"


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"
