"""Run by test_average.py: trains as `regard train tiny.toml` does, killed at one point of the averaging after the
other, and in the end not at all.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.config import load_config
from regard.predictor import load
from regard.trainer import Trainer
from regard.training import Averaged, Checkpoints, Loop
from regard.validating import Validator

averaging = False


def die(*_: object) -> None:
    if averaging:
        os.kill(os.getpid(), signal.SIGKILL)


def before(place: type, name: str, when: Callable[..., bool] = lambda *_: True) -> None:
    """Dies instead of calling it."""
    _wrap(place, name, lambda original, *words: (when(*words) and die(), original(*words))[1])


def after(place: type, name: str, when: Callable[..., bool] = lambda *_: True) -> None:
    """Dies as soon as it has done its work."""
    _wrap(place, name, lambda original, *words: (original(*words), when(*words) and die())[0])


def _wrap(place: type, name: str, around: Callable[..., Any]) -> None:
    original = getattr(place, name)
    setattr(place, name, lambda *words: around(original, *words))


def begin(loop: Loop) -> Averaged:
    global averaging
    averaging = True
    return average(loop)


def is_weights(_: Path, target: Path) -> bool:
    return target.name == "model.safetensors"


POINTS: dict[str, Callable[[], None]] = {
    "one checkpoint was read": lambda: after(Checkpoints, "weights"),
    "validating": lambda: before(Validator, "__call__"),
    "recorded": lambda: before(Trainer, "_adopt"),
    "the weights were written, under their temporary name": lambda: before(Path, "replace", is_weights),
    "the weights were written": lambda: after(Path, "replace", is_weights),
    "adopted": lambda: after(Trainer, "_adopt"),
}


def train() -> None:
    for _ in Trainer(load_config("tiny.toml"), "runs/tiny").events():
        pass


if __name__ == "__main__":
    average = Loop._averaged
    Loop._averaged = begin  # type: ignore[method-assign]
    for point, prepare in POINTS.items():
        child = os.fork()
        if child == 0:
            prepare()
            train()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"not killed where {point}"
        assert os.WTERMSIG(status) == signal.SIGKILL, (point, status)
        load("runs/tiny").predict("3 May 2018")  # there is a whole model at any time
        sys.stdout.write(f"{point}\n")
    train()
