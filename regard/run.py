"""Names and formats of everything in a run folder.

config.toml     the whole configuration, resolved: enough to train again
model/          loadable on its own: config.json, model.safetensors, tokenizers, README.md
averaged/       like model/: the mean of the newest checkpoints, where somebody asked for it
checkpoints/    to go on from
metrics.jsonl   one line of figures for each log and validation; tensorboard/ has the same
curves.png      the same as a picture
notes.txt       what was said of the pairs and the model, at each start
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
from datetime import datetime
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from regard import __version__
from regard.config import Config, parse_config, read_toml
from regard.config.older import as_begun, completed
from regard.core.errors import UserError
from regard.core.figures import rounded
from regard.core.files import locked, write_whole
from regard.core.weights import MADE_FOR, Weights, header, said_of
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
        self.notes_path = self.folder / "notes.txt"

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
        document = self._document()
        return None if document is None else parse_config(completed(document), origin=str(self.config_path))

    def as_begun(self, config: Config) -> Config:
        """The configuration to go on with: settings that this run is older than are as they were."""
        document = self._document() if self._has_checkpoint else None
        return config if document is None else as_begun(config, document)

    def _document(self) -> dict[str, Any] | None:
        path = self.config_path
        return read_toml(path, str(path)) if path.exists() else None

    def begun(self) -> Config | None:
        """The same, if the run has come to its first checkpoint."""
        return self.config() if self._has_checkpoint else None

    @property
    def _has_checkpoint(self) -> bool:
        return any(self.checkpoints.glob("step-*/manifest.json"))

    def start(self, config: Config) -> None:
        """Claims the folder for a new training; what a first try left behind is cleared away."""
        for path in self.cleared():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        write_whole(self.config_path, config.to_toml())

    def change(self, config: Config) -> None:
        """Other settings for what was trained so far. It will be searched or judged otherwise: scores are void."""
        write_whole(self.config_path, config.to_toml())
        self.forget_scores()

    def cleared(self) -> list[Path]:
        """What is there of all that `start` clears away."""
        folders = (self.model.folder, self.averaged.folder, self.samples, self.tensorboard, self.predictions)
        return [path for path in (*folders, self.metrics_path, self.notes_path) if path.exists()]

    def note(self, text: str) -> None:
        """Adds what was said of a training to what was said before."""
        with self.notes_path.open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}  {text}\n")

    def predictions_path(self, split: str) -> Path:
        return self.predictions / f"{split}.jsonl"

    def has_scores(self, split: str) -> bool:
        return self.scores_path.exists() and split in _read_json(self.scores_path)

    def scores(self, split: str) -> dict[str, Any]:
        """What the newest evaluation found; nothing, if there was none."""
        return dict(_read_json(self.scores_path).get(split, {})) if self.scores_path.exists() else {}

    def forget_scores(self) -> None:
        """They are of another model, or of other answers, than those to come."""
        self.scores_path.unlink(missing_ok=True)

    def add_scores(self, split: str, scores: Mapping[str, Any]) -> None:
        with locked(self.folder):  # another may add those of another split
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
        """Writes `config.json`: the configuration, the sizes of the vocabularies, which pairs it knows, and the digests
        of the files that stand beside it by now: tokenizers, tags, scales, a frozen network.
        """
        files = self._document().get("files", {}) if self.config_path.exists() else self._beside()
        document = {
            "format": MODEL_FORMAT,
            "regard": __version__,
            "vocabulary": vocabulary,
            "data": data,
            "files": files,
            "config": config.model_dump(mode="json"),
        }
        write_whole(self.config_path, _json(document))

    def digest(self) -> str:
        """Of all that answers depend on: another model has another. The model card is no part of it, nor a shortlist,
        which is searched only where that is asked for.
        """
        own = (self.config_path, self.weights_path)
        listed = self._document().get("files") if self.config_path.exists() else None
        names = {*(self._beside() if listed is None else listed), *(path.name for path in own)}
        there = [path for path in (self.folder / name for name in names) if path.is_file()]
        return _together({path.name: _sha256(path) for path in there})

    def _beside(self) -> dict[str, str]:
        """The other files in the folder and their digests; hidden ones are somebody's, or left of a writing."""
        others = (self.card_path, self.shortlist_path, self.config_path, self.weights_path)
        return {
            path.name: _sha256(path)
            for path in sorted(self.folder.glob("*"))
            if path.is_file() and path not in others and not path.name.startswith(".")
        }

    def made_for(self) -> str | None:
        """What tells these tokenizers and the like from those of other models. Older models do not tell."""
        files = self._document().get("files")
        return None if files is None else _together(files)

    def verify(self) -> None:
        """Raises a UserError unless the files are those that the weights were trained with."""
        for name, expected in self._document().get("files", {}).items():
            path = self.folder / name
            if not path.exists():
                raise UserError(f"{path} is missing. Take it from a copy of this model.")
            if _sha256(path) != expected:
                raise UserError(
                    f"{path} is damaged, or belongs to another model. Take it from a copy of this one."
                )
        told = self.header().get(MADE_FOR)
        if told is not None and told != self.made_for():
            raise UserError(
                f"{self.weights_path} belongs to another model than the files beside it: it was trained with other "
                "tokenizers."
            )

    def header(self) -> dict[str, str]:
        """What the file of weights says of itself; nothing if it can't be read."""
        try:
            with safe_open(self.weights_path, framework="pt") as file:
                return said_of(file.metadata() or {})
        except (OSError, ValueError, SafetensorError):
            return {}

    def averaged(self) -> tuple[int, ...]:
        """The steps of the checkpoints that the weights are the mean of; none if they are those of one."""
        return tuple(map(int, self.header().get(AVERAGED, "").split()))

    def config(self) -> Config:
        return parse_config(completed(self._document()["config"]), origin=str(self.config_path))

    def vocabulary(self) -> dict[str, int]:
        return dict(self._document()["vocabulary"])

    def data(self) -> dict[str, Any]:
        """Fingerprints of the pairs, by split."""
        return dict(self._document()["data"])

    def _document(self) -> dict[str, Any]:
        document = _read_json(self.config_path)
        if document.get("format") not in range(1, MODEL_FORMAT + 1):
            raise UserError(
                f"{self.config_path}: this model has format {document.get('format')!r}, but this version of "
                f"Regard reads formats up to {MODEL_FORMAT}. Install the version that wrote it."
            )
        missing = [
            name for name in ("vocabulary", "data", "config") if not isinstance(document.get(name), dict)
        ]
        if missing:
            raise UserError(f"{self.config_path} is damaged: {missing[0]!r} is missing. Take it from a copy.")
        return document


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _together(digests: Mapping[str, str]) -> str:
    return sha256("".join(f"{name}\n{digests[name]}\n" for name in sorted(digests)).encode()).hexdigest()


def mean_file(weights: Weights, steps: Sequence[int], *, made_for: str | None) -> bytes:
    """Weights that are the mean of the checkpoints at these steps, as a file whose header says so."""
    also = {AVERAGED: " ".join(map(str, steps))}
    return save(dict(weights), header(weights, made_for=made_for, **also))


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
            "value": rounded(score.value),
            **({"interval": _ends(score.interval)} if score.interval else {}),
            "signature": score.signature,
        }
        for name, score in scores.items()
    }


def _ends(interval: Interval) -> list[float]:
    return [rounded(interval.low), rounded(interval.high)]


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
