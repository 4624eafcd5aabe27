"""CTranslate2: Transformers on all cores, in float32 or int8. Needs the extra `fast`."""

from pathlib import Path
from typing import Any

import torch

from regard.config import Config
from regard.engines.ctranslate2.expressible import refusal
from regard.engines.ctranslate2.searching import CTranslate2
from regard.engines.ctranslate2.specification import BY_DISTANCE, specification
from regard.models import Seq2Seq
from regard.tasks.text import TextCodec

PLACES = 1024  # positions that it is told at least, where it has to be told them


def write(
    model: Seq2Seq, config: Config, codec: TextCodec, folder: Path, *, compute_type: str
) -> dict[str, Any]:
    """CTranslate2's own files; gives what the engine has to know."""
    source, target = names(codec)
    places = _places(config)
    with torch.inference_mode():
        spec = specification(model, config, source=source, target=target, places=places or PLACES)
    spec.validate()
    spec.optimize(quantization=compute_type)
    spec.save(str(folder))
    parameters = sum(one.numel() for one in model.parameters())
    return {"compute_type": compute_type, "places": places, "parameters": parameters}


def _places(config: Config) -> int | None:
    """How many pieces may stand in a row; None: any number."""
    kinds = {config.model.encoder.positions, config.model.decoder.positions}  # type: ignore[union-attr]
    if kinds <= set(BY_DISTANCE):
        return None
    return config.longest if "learned" in kinds else max(PLACES, config.longest)


def names(codec: TextCodec) -> tuple[list[str], list[str]]:
    """What CTranslate2 calls the pieces of each side: as the `tokenizers` library does, and tags by their names."""
    source, target = codec.source.vocabulary, codec.target.vocabulary  # type: ignore[union-attr]
    tags = [_unlike(f"<{tag}>", source) for tag in codec.tags.names]
    return [*source, *tags], [*target, *(tags if codec.source is codec.target else [])]


def _unlike(name: str, known: list[str]) -> str:
    while name in known:
        name = f"<{name}>"
    return name


__all__ = ["CTranslate2", "names", "refusal", "write"]
