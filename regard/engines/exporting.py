"""From a trained model to what an engine runs."""

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from regard import build
from regard.config import Config
from regard.core.errors import UserError, did_you_mean
from regard.engines.engine import Engine
from regard.engines.folders import Export, cached_export, find_export, write_export
from regard.run import ModelFolder, find_model
from regard.tasks.text import TextCodec

ENGINES = ("native", "ctranslate2")
EXPORTS = {
    "ctranslate2": "fast",
    "onnx": "onnx",
}  # what a model can be exported to, and the extra that it needs
COMPUTE_TYPES = {"ctranslate2": ("float32", "int8", "int8_float32"), "onnx": ("float32",)}


def export(
    path: str | Path, *, to: str, output: str | Path | None = None, compute_type: str = "float32"
) -> Export:
    """Writes a model for another engine, as a folder that `regard.load` takes.

    Without an output it stands beside the run: `runs/dates-ctranslate2`. An earlier export there is replaced.
    """
    if to not in EXPORTS:
        raise UserError(f"A model can't be exported to {to!r}.{did_you_mean(to, EXPORTS)}")
    known = COMPUTE_TYPES[to]
    if compute_type not in known:
        raise UserError(f"{to} has no compute type {compute_type!r}.{did_you_mean(compute_type, known)}")
    folder = find_model(path)
    target = Path(output) if output is not None else _beside(Path(path), to)
    return write_export(folder, to, target, partial(_write, folder, to, compute_type))


@dataclass(frozen=True)
class Loaded:
    engine: Engine
    config: Config
    codec: TextCodec


def load_engine(
    path: str | Path, name: str, *, device: torch.device, compute_type: str | None, workers: int | None
) -> Loaded:
    """An engine with the model of a run, or with one that was exported."""
    found = find_export(path)
    if found is not None and found.to != name:
        raise UserError(
            f"{path} was exported to {found.to}, and {name} does not read that. Give the run itself."
        )
    parts = _module(name)
    if found is None:
        found = cached_export(find_model(path), name, partial(_write, find_model(path), name, "float32"))
    elif damage := found.damage():  # those in the cache were looked at
        raise found.unreadable(damage)
    config = found.model.config()
    codec = build.load_codec(config, found.model)
    source, target = parts.names(codec)
    engine: Engine = parts.CTranslate2(
        found,
        source=source,
        target=target,
        batch_tokens=config.evaluation.batch_tokens,
        device=device,
        compute_type=compute_type,
        workers=workers,
    )
    assert isinstance(codec, TextCodec), "others are never exported"
    return Loaded(engine, config, codec)


def _write(folder: ModelFolder, to: str, compute_type: str, output: Path) -> dict[str, Any]:
    parts = _module(to)
    config = folder.config()
    codec = build.load_codec(config, folder)
    of_texts = isinstance(codec, TextCodec)
    reason = parts.refusal(config, codec) if of_texts else "its sources or its answers are no texts"
    if reason:
        raise UserError(f"{folder.folder}: {to} can't run this model: {reason}. Use the native engine.")
    model = build.load_model(config, folder, codec).eval()
    facts: dict[str, Any] = parts.write(model, config, codec, output, compute_type=compute_type)
    return facts


def _module(name: str) -> Any:
    """What belongs to an engine; a UserError where the packages that it needs are not here."""
    try:
        return import_module(f"regard.engines.{name}")
    except ImportError as error:
        if (error.name or "").startswith("regard"):
            raise
        extra = EXPORTS[name]
        raise UserError(
            f"{name} needs packages that are not here. Get them: pip install 'regard[{extra}]'."
        ) from None


def _beside(path: Path, to: str) -> Path:
    whole = path.resolve()
    run = whole.parent if whole.name == "model" else whole
    return run.with_name(f"{run.name}-{to}")
