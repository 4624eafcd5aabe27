"""Names and formats of everything in a run folder.

config.toml     the whole configuration, resolved: enough to train again
model/          loadable on its own: config.json, model.safetensors, tokenizers, README.md
averaged/       like model/: the mean of the newest checkpoints, where somebody asked for it
checkpoints/    to go on from
metrics.jsonl   one line of figures for each log and validation; tensorboard/ has the same
curves.png      the same as a picture
samples/        predictions and attention pictures over time
scores.json     evaluations with signatures and intervals
predictions/    the answers that were scored, a file of JSON lines for each split: see regard/predictions.py
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from regard import __version__
from regard.config import Config, parse_config, read_toml
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.core.weights import Weights
from regard.metrics import Interval, Score

MODEL_FORMAT = 1  # of model/config.json: raised only when older Regards could not read it
AVERAGED = "averaged_steps"  # in the header of the weights
EXPORT = "export.json"  # in a folder that was exported: see regard/engines/folders.py


class Run:
    """A folder with everything one training left behind."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.config_path = self.folder / "config.toml"
        self.model = ModelFolder(self.folder / "model")
        self.averaged = ModelFolder(self.folder / "averaged")
        self.checkpoints = self.folder / "checkpoints"
        self.metrics_path = self.folder / "metrics.jsonl"
        self.tensorboard = self.folder / "tensorboard"
        self.curves_path = self.folder / "curves.png"
        self.samples = self.folder / "samples"
        self.scores_path = self.folder / "scores.json"
        self.predictions = self.folder / "predictions"

    def __str__(self) -> str:
        return str(self.folder)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps a second process out; the lock goes with its process, however that ends."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise UserError(f"{self} is a file; a run is a folder. Give another with --run.") from None
        with locked_folder(self.folder, "Wait for it, or train in another folder with --run."):
            yield

    def config(self) -> Config | None:
        """The configuration this run was started with, if it was."""
        if not self.config_path.exists():
            return None
        return parse_config(read_toml(self.config_path, str(self.config_path)), origin=str(self.config_path))

    def begun(self) -> Config | None:
        """The same, if the run has come to its first checkpoint."""
        return self.config() if any(self.checkpoints.glob("step-*/manifest.json")) else None

    def start(self, config: Config) -> None:
        """Claims the folder for a new training; what a first try left behind is cleared away."""
        for path in self.cleared():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        write_whole(self.config_path, config.to_toml())

    def cleared(self) -> list[Path]:
        """What is there of all that `start` clears away."""
        folders = (self.model.folder, self.averaged.folder, self.samples, self.tensorboard, self.predictions)
        return [path for path in (*folders, self.metrics_path) if path.exists()]

    def predictions_path(self, split: str) -> Path:
        return self.predictions / f"{split}.jsonl"

    def has_scores(self, split: str) -> bool:
        return self.scores_path.exists() and split in _read_json(self.scores_path)

    def scores(self, split: str) -> dict[str, Any]:
        """What the newest evaluation found; nothing, if there was none."""
        return dict(_read_json(self.scores_path).get(split, {})) if self.scores_path.exists() else {}

    def forget_scores(self) -> None:
        """They are of another model than the one to come."""
        self.scores_path.unlink(missing_ok=True)

    def add_scores(self, split: str, scores: Mapping[str, Any]) -> None:
        known = _read_json(self.scores_path) if self.scores_path.exists() else {}
        write_whole(self.scores_path, _json({**known, split: scores}))


@contextmanager
def locked_folder(folder: Path, advice: str) -> Iterator[None]:
    """Keeps a second process out of a folder that is there."""
    with (folder / ".lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UserError(
                f"{folder}: process {file.read().strip() or '?'} is training here already. {advice}"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


class ModelFolder:
    """What `regard.load` needs, and nothing more."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.config_path = folder / "config.json"
        self.weights_path = folder / "model.safetensors"
        self.card_path = folder / "README.md"
        self.shortlist_path = folder / "shortlist.safetensors"

    def describe(self, config: Config, *, vocabulary: Mapping[str, int], data: Mapping[str, Any]) -> None:
        """Writes `config.json`: the configuration, the sizes of the vocabularies, and which pairs it knows."""
        document = {
            "format": MODEL_FORMAT,
            "regard": __version__,
            "vocabulary": vocabulary,
            "data": data,
            "config": config.model_dump(mode="json"),
        }
        write_whole(self.config_path, _json(document))

    def digest(self) -> str:
        """Of all that answers depend on: another model has another. The model card is no part of it, nor a shortlist,
        which is searched only where that is asked for.
        """
        whole = sha256()
        for path in sorted(self.folder.iterdir()):
            if path.is_file() and path not in (self.card_path, self.shortlist_path):
                with path.open("rb") as file:
                    whole.update(f"{path.name}\n{file_digest(file, 'sha256').hexdigest()}\n".encode())
        return whole.hexdigest()

    def averaged(self) -> tuple[int, ...]:
        """The steps of the checkpoints that the weights are the mean of; none if they are those of one."""
        try:
            with safe_open(self.weights_path, framework="pt") as file:
                return tuple(map(int, (file.metadata() or {}).get(AVERAGED, "").split()))
        except (OSError, SafetensorError):
            return ()

    def config(self) -> Config:
        return parse_config(self._document()["config"], origin=str(self.config_path))

    def vocabulary(self) -> dict[str, int]:
        return dict(self._document()["vocabulary"])

    def data(self) -> dict[str, Any]:
        """Fingerprints of the pairs, by split."""
        return dict(self._document()["data"])

    def _document(self) -> dict[str, Any]:
        document = _read_json(self.config_path)
        if document.get("format") != MODEL_FORMAT:
            raise UserError(
                f"{self.config_path}: this model has format {document.get('format')!r}, but this version of "
                f"Regard reads format {MODEL_FORMAT}. Install the version that wrote it."
            )
        missing = [
            name for name in ("vocabulary", "data", "config") if not isinstance(document.get(name), dict)
        ]
        if missing:
            raise UserError(f"{self.config_path} is damaged: {missing[0]!r} is missing. Take it from a copy.")
        return document


def mean_file(weights: Weights, steps: Sequence[int]) -> bytes:
    """Weights that are the mean of the checkpoints at these steps, as a file whose header says so."""
    return save(dict(weights), {AVERAGED: " ".join(map(str, steps))})


def find_model(path: str | Path) -> ModelFolder:
    """The model of a run folder, or a model folder given directly."""
    folder = Path(path)
    for candidate in (folder / "model", folder):
        if (candidate / "config.json").exists() and (candidate / "model.safetensors").exists():
            return ModelFolder(candidate)
    if not folder.exists():
        raise UserError(f"{folder}: there is no such run. `regard train` makes one.")
    if (folder / "config.toml").exists():
        raise UserError(
            f"{folder}: this run has no model yet: it has not come to its first validation. Train it further."
        )
    if (folder / EXPORT).exists():
        raise UserError(
            f"{folder} was exported and can only be asked. Give the run that it was exported from."
        )
    raise UserError(f"{folder} is not a run: it has no config.toml and no model/config.json.")


def scores_document(scores: Mapping[str, Score]) -> dict[str, Any]:
    """`{"bleu": {"value": 38.95, "interval": [37.6, 40.3], "signature": "..."}}`"""
    return {
        name: {
            "value": round(score.value, 4),
            **({"interval": _ends(score.interval)} if score.interval else {}),
            "signature": score.signature,
        }
        for name, score in scores.items()
    }


def _ends(interval: Interval) -> list[float]:
    return [round(interval.low, 4), round(interval.high, 4)]


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} can't be read as JSON: {error}.") from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: expected a JSON object.")
    return document


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
