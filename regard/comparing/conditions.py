"""Under which conditions runs were compared, in words."""

from collections.abc import Iterator, Sequence

import torch

from regard.comparing.varying import UNLIMITED
from regard.config import Config


def budget(configs: Sequence[Config]) -> str:
    """What every run was given, in words."""
    given = list(dict.fromkeys(" or ".join(_limits(config)) for config in configs))
    return f"{given[0]} each" if len(given) == 1 else f"unequal: {', '.join(given)}"


def _limits(config: Config) -> Iterator[str]:
    training = config.training
    if training.steps < UNLIMITED:
        yield f"{training.steps:,} steps"
    if training.tokens is not None:
        yield f"{training.tokens:,} target pieces"
    if training.minutes is not None:
        yield f"{training.minutes:g} minutes of training steps"


def conditions(devices: Sequence[torch.device], threads: int, processes: int, *, are_given: bool) -> str:
    """Nobody knows how given runs were trained."""
    one = "1 thread" if threads == 1 else f"{threads} threads"
    kinds = dict.fromkeys("a CPU" if device.type == "cpu" else "a GPU" for device in devices)
    where = f"on {' and '.join(kinds)}"
    if are_given:
        return f"{where}, decoding with {one}; some runs were trained before"
    beside = "one run at a time" if processes == 1 else f"{processes} runs beside each other"
    return f"{where}, {one} for each run, {beside}; decoding alone"
