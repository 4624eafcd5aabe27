"""Settings that are younger than some runs, whose configurations are complete: what these mean by not having them."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, get_args

from regard.config.parts import RecurrentDecoder, RecurrentEncoder
from regard.config.settings import Config

_RECURRENT = {
    kind
    for part in (RecurrentEncoder, RecurrentDecoder)
    for kind in get_args(part.model_fields["kind"].annotation)
}
_MEANT = {"embedding_scale": False}  # of recurrent parts; some presets have it today


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """A complete configuration of any version, as this one would have written it."""
    whole = deepcopy(document)
    for part in _recurrent_parts(whole).values():
        part.update({name: value for name, value in _MEANT.items() if name not in part})
    return whole


def as_begun(config: Config, document: dict[str, Any]) -> Config:
    """For a training that goes on: what the complete configuration that it began with does not have is as it was."""
    then, now = _recurrent_parts(document), config.model_dump()
    for name, part in _recurrent_parts(now).items():
        part.update({key: value for key, value in _MEANT.items() if name in then and key not in then[name]})
    return Config.model_validate(now)


def _recurrent_parts(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: part for name, part in _parts(document) if part.get("kind", "recurrent") in _RECURRENT}


def _parts(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    model = document.get("model", {})
    for name, holder in (("encoder", model), ("decoder", model), ("context", model.get("context") or {})):
        part = holder.get("encoder" if name == "context" else name)
        if isinstance(part, dict):
            yield name, part
