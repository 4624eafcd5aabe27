"""Models that were exported: names and formats of everything in their folder.

export.json     what it is: the engine it is for, the model it is of, and what the engine has to know
config.json     and the tokenizers: as in the model's own folder
ctranslate2/    CTranslate2's own files; or
onnx/           the two graphs
"""

import fcntl
import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any

from regard import __version__
from regard.core.errors import UserError
from regard.core.files import copy_whole, whole_folder, write_whole
from regard.run import EXPORT, ModelFolder, find_model

FORMAT = 1  # of export.json and of what stands beside it
CACHE = ".engines"  # in a model's folder

Write = Callable[[Path], Mapping[str, Any]]  # an engine's own files into a folder; gives what it has to know


@dataclass(frozen=True)
class Export:
    folder: Path
    to: str  # the engine
    of: str  # the model's digest
    facts: Mapping[str, Any]  # what the engine has to know
    format: int = FORMAT
    regard: str = field(default=__version__)
    # SHA-256 of the engine's files, by name.
    digests: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def model(self) -> ModelFolder:
        """With the configuration and the tokenizers, but without weights."""
        return ModelFolder(self.folder)

    @property
    def files(self) -> Path:
        """The engine's own."""
        return self.folder / self.to

    def unreadable(self, reason: str) -> UserError:
        return UserError(
            f"{self.folder}: {self.to} can't read what was exported here ({reason.rstrip('.')}). Remove the folder, "
            "and export the model again."
        )

    def damage(self) -> str | None:
        """What is wrong with the engine's files; None if they are as they were written."""
        for name, digest in self.digests.items():
            try:
                found = _digest(self.files / name)
            except OSError as error:
                return f"{name}: {error.strerror}"
            if found != digest:
                return f"{name} is damaged"
        return None


def find_export(path: str | Path) -> Export | None:
    """What was exported to this folder; None if it is something else."""
    manifest = Path(path) / EXPORT
    if not manifest.exists():
        return None
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
        export = Export(Path(path), **found)
        if not isinstance(export.facts, Mapping) or not isinstance(export.digests, Mapping):
            raise TypeError
    except (OSError, ValueError, TypeError):
        raise UserError(f"{manifest} is damaged. Export the model again.") from None
    if export.format != FORMAT:
        raise UserError(
            f"{path} was exported by Regard {export.regard} in format {export.format}, but this version reads format "
            f"{FORMAT}. Export the model again."
        )
    return export


def find_folder(path: str | Path) -> ModelFolder:
    """Configuration and tokenizers of a run's model, or of one that was exported."""
    exported = find_export(path)
    return exported.model if exported else find_model(path)


def write_export(folder: ModelFolder, to: str, output: Path, write: Write) -> Export:
    """The folder appears whole or not at all. An earlier export there is replaced, and nothing else is."""
    if output.exists() and not (
        (output / EXPORT).exists() or (output.is_dir() and not any(output.iterdir()))
    ):
        raise UserError(f"{output} is there already, and is no earlier export. Give a new folder with -o.")
    digest = folder.digest()
    with whole_folder(output.resolve()) as writing:
        for file in folder.folder.iterdir():
            if file.is_file() and file != folder.weights_path and not file.name.startswith("."):
                copy_whole(file, writing / file.name)
        (writing / to).mkdir()
        facts = write(writing / to)
        digests = {file.name: _digest(file) for file in sorted((writing / to).iterdir()) if file.is_file()}
        export = Export(output, to, digest, facts, digests=digests)
        document = {name: value for name, value in asdict(export).items() if name != "folder"}
        write_whole(writing / EXPORT, json.dumps(document, indent=2) + "\n")
    return export


def cached_export(folder: ModelFolder, to: str, write: Write) -> Export:
    """The same beside the model itself, where it is made once; again, when the model is another."""
    home = folder.folder / CACHE
    path = home / f"{to}-{FORMAT}-{folder.digest()[:16]}"
    if made := _made(path):
        return made
    try:
        home.mkdir(exist_ok=True)
        with (home / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # several processes of a server begin at once
            if made := _made(path):
                return made
            for old in home.glob(f"{to}-*"):
                shutil.rmtree(old, ignore_errors=True)
            return write_export(folder, to, path, write)
    except OSError as error:
        raise UserError(
            f"{home} can't be written ({error.strerror}), so the engine has no place for its own form of the model. "
            f"Make one elsewhere with `regard export {folder.folder} --to {to} -o FOLDER`, and load that."
        ) from None


def _made(path: Path) -> Export | None:
    """What stands in the cache; nothing, where it is damaged and has to be made again."""
    with suppress(UserError):
        found = find_export(path)
        return found if found is None or found.damage() is None else None
    return None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
