"""Checkpoints: a folder that appears whole or not at all, and that knows when a bit of it has changed.

Written under a temporary name, every file synced, the manifest with the SHA-256 of the others
last, then renamed. No pickle: weights are safetensors, the rest is JSON.
"""

import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from regard.core.errors import UserError
from regard.core.files import sync, write_whole
from regard.core.weights import header
from regard.training.averages import mean
from regard.training.state import TrainingState

log = logging.getLogger("regard")

MODEL, OPTIMIZER, STATE, MANIFEST = (
    "model.safetensors",
    "optimizer.safetensors",
    "state.json",
    "manifest.json",
)
EMA = "ema.safetensors"  # the moving average of the weights, where there is one


OBJECTIVE = "objective."  # how the objective's own tensors are called beside the optimizer's


class DamagedError(Exception):
    """A checkpoint that is not as it was written; says what is wrong with it."""


@dataclass(frozen=True)
class Checkpoint:
    folder: Path
    model: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    state: TrainingState
    objective: dict[str, Tensor] = field(default_factory=dict)  # a baseline, say
    ema: dict[str, Tensor] = field(default_factory=dict)  # the moving average of the weights


class Checkpoints:
    """The checkpoints of one run: the newest `keep` and the best.

    Only steps that are `planned` count among the newest. One that is saved because somebody stops is kept
    until the next is saved, so that what is kept in the end does not depend on who stopped when.
    """

    made_for: str | None = None  # digest of the tokenizers, which goes into the header of the weights

    def __init__(self, folder: Path, *, keep: int = 2, planned: Callable[[int], bool] = lambda step: True):
        assert keep >= 2, "one to go on from and one to fall back to"
        self.folder = folder
        self.keep = keep
        self.planned = planned

    def save(
        self,
        model: dict[str, Tensor],
        optimizer: dict[str, Tensor],
        state: TrainingState,
        objective: dict[str, Tensor] | None = None,
        ema: dict[str, Tensor] | None = None,
    ) -> Path:
        final = self.path(state.step)
        self.folder.mkdir(parents=True, exist_ok=True)
        for leftover in self.folder.glob(".writing-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        writing = self.folder / f".writing-{final.name}"
        try:
            writing.mkdir()
            save_file(model, writing / MODEL, header(model, made_for=self.made_for))
            extra = {f"{OBJECTIVE}{name}": value for name, value in (objective or {}).items()}
            save_file({**optimizer, **extra}, writing / OPTIMIZER)
            if ema:
                save_file(ema, writing / EMA, header(ema, made_for=self.made_for))
            (writing / STATE).write_text(json.dumps(state.to_json(), indent=1))
            sums = {path.name: _sha256(path) for path in writing.iterdir()}
            (writing / MANIFEST).write_bytes(_manifest(sums))
            for name in (*sums, MANIFEST):
                sync(writing / name)
            sync(writing)
            if final.exists():  # the same step of an earlier sitting: equal, but perhaps damaged since
                shutil.rmtree(final)
            writing.rename(final)
            sync(self.folder)
        except (OSError, SafetensorError) as error:
            raise UserError(
                f"{final} can't be saved: {error}. The checkpoints before it are intact: make room, "
                "then run the same command again to go on from the newest."
            ) from error
        finally:
            shutil.rmtree(writing, ignore_errors=True)
        self._forget(state.step, best=state.best.step if state.best else None)
        return final

    def restate(self, state: TrainingState) -> bool:
        """A new state for the checkpoint of its step, whose tensors stay. False when there is no such checkpoint.

        A process that dies between the two files leaves a checkpoint that is passed over as damaged.
        """
        folder = self.path(state.step)
        content = json.dumps(state.to_json(), indent=1).encode()
        try:
            sums = json.loads((folder / MANIFEST).read_bytes())["files"]
            write_whole(folder / STATE, content)
            write_whole(folder / MANIFEST, _manifest({**sums, STATE: hashlib.sha256(content).hexdigest()}))
        except (OSError, ValueError, KeyError, TypeError):
            return False
        self._forget(state.step, best=state.best.step if state.best else None)
        return True

    def path(self, step: int) -> Path:
        return self.folder / f"step-{step:06d}"

    def steps(self) -> list[int]:
        """The steps saved, oldest first."""
        names = [path.name for path in self.folder.glob("step-*")] if self.folder.exists() else []
        return sorted(int(name[5:]) for name in names if name[5:].isdigit())

    def newest(self) -> Checkpoint | None:
        """The newest undamaged checkpoint; a damaged one is passed over with a warning."""
        problems = []
        for step in reversed(self.steps()):
            try:
                return self.load(step)
            except DamagedError as damage:
                problems.append(str(damage))
                log.warning("%s. Trying the checkpoint before it.", damage)
        if problems:
            raise UserError(
                f"{self.folder}: every checkpoint is damaged ({problems[0]}). "
                "Remove the run folder to train again from the start."
            )
        return None

    def newest_state(self) -> TrainingState | None:
        """Where training stands, by the newest checkpoint's own word: nothing else of it is looked at."""
        for step in reversed(self.steps()):
            path = self.path(step) / STATE
            try:
                return TrainingState.from_json(json.loads(path.read_text()), origin=str(path))
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return None

    def load(self, step: int) -> Checkpoint:
        folder = self.path(step)
        names = verify(folder)
        state = TrainingState.from_json(json.loads((folder / STATE).read_text()), origin=str(folder / STATE))
        saved = load_file(folder / OPTIMIZER)
        objective = {
            name[len(OBJECTIVE) :]: saved.pop(name) for name in list(saved) if name.startswith(OBJECTIVE)
        }
        ema = load_file(folder / EMA) if EMA in names else {}
        return Checkpoint(folder, load_file(folder / MODEL), saved, state, objective, ema)

    def weights(self, step: int) -> dict[str, Tensor]:
        """What a model is made of: the moving average where there is one, else the weights themselves."""
        return load_file(model_file(self.path(step)))

    def mean(self, steps: Sequence[int]) -> dict[str, Tensor]:
        """The mean of the weights at these steps; what can't be averaged is taken from the first."""
        try:
            return mean(self.weights(step) for step in steps)
        except DamagedError as damage:
            raise UserError(
                f"{damage}. Remove this checkpoint and those after it and train on: they are made again, "
                "bit by bit, and can then be averaged."
            ) from None
        except ValueError:
            raise UserError(
                f"{self.folder}: these checkpoints belong to different models and can't be averaged. "
                "Give a run whose checkpoints are all its own."
            ) from None

    def _forget(self, newest: int, *, best: int | None) -> None:
        """Keeps the newest and the best. What stands beyond the newest was passed over as damaged."""
        planned = [step for step in self.steps() if step <= newest and self.planned(step)]
        kept = {*planned[-self.keep :], newest, best}
        for step in self.steps():
            if step not in kept:
                (self.path(step) / MANIFEST).unlink(missing_ok=True)  # first: half a folder never counts
                shutil.rmtree(self.path(step), ignore_errors=True)


def model_file(checkpoint: Path) -> Path:
    """The file that is the model's, verified."""
    return checkpoint / (EMA if EMA in verify(checkpoint) else MODEL)


_MISSING = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


def verify(folder: Path) -> set[str]:
    """The names of the files. Raises `DamagedError` unless every byte is as it was written.

    That nobody may read them, or that a disk does not answer, is no damage: such an `OSError` stays what it is.
    """
    try:
        raw = (folder / MANIFEST).read_bytes()
        sums = json.loads(raw)["files"]
        if raw != _manifest(sums):
            raise DamagedError(f"{folder}: the manifest has changed since it was written")
        for name, expected in sums.items():
            if _sha256(folder / name) != expected:
                raise DamagedError(f"{folder / name} has changed since it was written")
        if set(sums) - {EMA} != {MODEL, OPTIMIZER, STATE}:
            raise DamagedError(f"{folder}: the manifest names other files than a checkpoint has")
        return set(sums)
    except (*_MISSING, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(f"{folder}: not a whole checkpoint ({error})") from error


def _manifest(sums: dict[str, str]) -> bytes:
    """The manifest's only right form. It has its own sum too, and a reader compares byte by byte."""
    own = hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()
    return json.dumps({"files": sums, "manifest": own}, indent=1, sort_keys=True).encode()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flatten_optimizer(state: dict[str, Any]) -> dict[str, Tensor]:
    """An optimizer's state as named tensors: `"<parameter number>.<name>"`."""
    return {f"{number}.{name}": value for number, name, value in _entries(state)}


def unflatten_optimizer(tensors: dict[str, Tensor], groups: list[dict[str, Any]]) -> dict[str, Any]:
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = value
    return {"state": state, "param_groups": groups}


def _entries(state: dict[str, Any]) -> Iterator[tuple[int, str, Tensor]]:
    for number, values in state["state"].items():
        for name, value in values.items():
            yield number, name, value
