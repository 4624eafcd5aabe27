"""Files to pairs, pairs to a memory-mapped store, the store to batches by token budget."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.data.batches import Batches, BatchPlan, in_order
    from regard.data.cache import cache_folder
    from regard.data.cases import Case, by_pair, by_source
    from regard.data.filtering import WINDOWS, Filters, Limits, PairReport
    from regard.data.fingerprints import fingerprint
    from regard.data.lines import BadLineError, read_lines, try_lines
    from regard.data.locating import data_folder, located
    from regard.data.looking import Spread, Survey, look
    from regard.data.mixing import Mixture, shares
    from regard.data.pairs import (
        JsonlFile,
        Pair,
        PairFile,
        PairReader,
        ParallelFiles,
        ReadBlock,
        Row,
        TsvFile,
        read_pairs,
        rows_of,
    )
    from regard.data.prepared import Recut, Store
    from regard.data.sameness import compared
    from regard.data.selected import SelectedPairs, sample
    from regard.data.selecting import Selection, Side, Wanted, left_out_for_sharing, select
    from regard.data.splitting import TooFewError
    from regard.data.store import TokenStore, open_store

# Loaded when first asked for: the processes that read and encode pairs need no torch.
_HOMES = {
    "batches": ("BatchPlan", "Batches", "in_order"),
    "cache": ("cache_folder",),
    "cases": ("Case", "by_pair", "by_source"),
    "filtering": ("WINDOWS", "Filters", "Limits", "PairReport"),
    "fingerprints": ("fingerprint",),
    "lines": ("BadLineError", "read_lines", "try_lines"),
    "locating": ("data_folder", "located"),
    "looking": ("Spread", "Survey", "look"),
    "mixing": ("Mixture", "shares"),
    "pairs": (
        "JsonlFile",
        "Pair",
        "PairFile",
        "PairReader",
        "ParallelFiles",
        "ReadBlock",
        "Row",
        "TsvFile",
        "read_pairs",
        "rows_of",
    ),
    "prepared": ("Recut", "Store"),
    "sameness": ("compared",),
    "selected": ("SelectedPairs", "sample"),
    "selecting": ("Selection", "Side", "Wanted", "left_out_for_sharing", "select"),
    "splitting": ("TooFewError",),
    "store": ("TokenStore", "open_store"),
}

__all__ = [
    "WINDOWS",
    "BadLineError",
    "BatchPlan",
    "Batches",
    "Case",
    "Filters",
    "JsonlFile",
    "Limits",
    "Mixture",
    "Pair",
    "PairFile",
    "PairReader",
    "PairReport",
    "ParallelFiles",
    "ReadBlock",
    "Recut",
    "Row",
    "SelectedPairs",
    "Selection",
    "Side",
    "Spread",
    "Store",
    "Survey",
    "TokenStore",
    "TooFewError",
    "TsvFile",
    "Wanted",
    "by_pair",
    "by_source",
    "cache_folder",
    "compared",
    "data_folder",
    "fingerprint",
    "in_order",
    "left_out_for_sharing",
    "located",
    "look",
    "open_store",
    "read_lines",
    "read_pairs",
    "rows_of",
    "sample",
    "select",
    "shares",
    "try_lines",
]


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'regard.data' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"regard.data.{home}"), name)
