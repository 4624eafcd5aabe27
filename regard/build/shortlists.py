"""Shortlists that were learned for a model."""

from collections.abc import Sequence

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from regard.core.errors import UserError
from regard.layers import Head
from regard.models import Seq2Seq
from regard.run import ModelFolder
from regard.search import Shortlist
from regard.tasks.codec import Codec


def load_shortlist(folder: ModelFolder, models: Sequence[Seq2Seq], codec: Codec) -> Shortlist:
    """The one that `regard shortlist` wrote into this folder, for models that answer together."""
    for model in models:
        if reason := no_shortlist(model, codec):
            raise UserError(f"{folder.folder}: there is no use for a shortlist: {reason}.")
    sizes = codec.sizes
    path = folder.shortlist_path
    if not path.exists():
        raise UserError(f"{folder.folder} has no shortlist yet. Make one: regard shortlist {folder.folder}")
    try:
        parts = load_file(path)
        found = Shortlist(parts["likely"].long(), parts["common"].long())
        fits = (
            found.likely.dim() == 2
            and len(found.likely) == sizes["source"]
            and found.common.dim() == 1
            and all(((one >= -1) & (one < sizes["target"])).all() for one in parts.values())
        )
    except (SafetensorError, OSError, KeyError, RuntimeError) as error:
        raise UserError(
            f"{path} is damaged ({error}). Make it anew: regard shortlist {folder.folder}"
        ) from None
    if not fits:
        raise UserError(
            f"{path} belongs to another model. Make one for this: regard shortlist {folder.folder}"
        )
    return found


def no_shortlist(model: Seq2Seq, codec: Codec) -> str | None:
    """Why some pieces alone make no sense for a model; None if they do."""
    head = model.decoder.head
    if codec.sources.kind != "text":
        return "the sources are no texts"
    if codec.languages:
        return "what a piece becomes depends on the language that is asked for"
    if not isinstance(head, Head):
        return "the model says points"
    return None if head.can_narrow else "the model can copy any word of its source"


def as_tensors(shortlist: Shortlist) -> dict[str, torch.Tensor]:
    """What `load_shortlist` reads."""
    return {"likely": shortlist.likely.int().contiguous(), "common": shortlist.common.int().contiguous()}
