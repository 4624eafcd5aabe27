"""Which pieces an answer is searched among, learned from the pairs that a model was trained with."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save

from regard import build
from regard.core.errors import UserError
from regard.core.files import write_whole
from regard.data import cache_folder
from regard.data.lexicon import common_targets, likely_targets
from regard.data.prepared import Store
from regard.run import find_model
from regard.search import Shortlist

LIKELY = 50
COMMON = 200


@dataclass(frozen=True)
class Made:
    path: Path
    covered: float  # share of the pieces of validation targets that stand in the lists of their sources
    length: float  # pieces of a list, in the mean
    vocabulary: int  # pieces there are


def make_shortlist(path: str | Path, *, likely: int = LIKELY, common: int = COMMON) -> Made:
    """Learns from the training pairs of a run and writes a shortlist into its model folder."""
    folder = find_model(path)
    config = folder.config()
    codec = build.load_codec(config, folder)
    if reason := build.no_shortlist(build.load_model(config, folder, codec), codec):
        raise UserError(f"{path}: there is no use for a shortlist: {reason}.")
    examples = build.task(config).examples()
    train = codec.store(cache_folder() / "stores", examples.train)
    if train.fingerprint != folder.data().get("train", {}).get("fingerprint"):
        raise UserError(
            f"The training pairs are not the ones that {path} was trained with. Bring the old data back."
        )
    sizes = codec.sizes["source"], codec.sizes["target"]
    often = common_targets(train, sizes[1], most=common)
    found = Shortlist(
        torch.from_numpy(likely_targets(train, sizes, most=likely, without=often)).long(),
        torch.from_numpy(often).long(),
    )
    validation = codec.store(cache_folder() / "stores", lambda: examples.validation)
    covered, length = _covered(found, validation)
    write_whole(folder.shortlist_path, save(build.as_tensors(found)))
    return Made(folder.shortlist_path, covered, length, sizes[1])


def _covered(shortlist: Shortlist, store: Store) -> tuple[float, float]:
    """Of the pieces of targets, those that are in their source's list; and the lists' mean length."""
    known = wanted = pieces = 0
    for number in range(len(store)):
        source, target = (torch.from_numpy(side.astype(np.int64)) for side in store.pair(number))
        short = shortlist.of(source[None], torch.ones(1, len(source), dtype=torch.bool))
        own = short.pieces[short.never[0] == 0]
        known += int(torch.isin(target, own).sum())
        wanted += len(target)
        pieces += len(own)
    return known / max(wanted, 1), pieces / max(len(store), 1)
