"""Files to pairs, pairs to a memory-mapped store, the store to batches by token budget."""

from regard.data.batches import Batches, BatchPlan, in_order
from regard.data.cache import cache_folder
from regard.data.cases import Case, by_pair, by_source
from regard.data.filtering import Limits, PairReport
from regard.data.fingerprints import fingerprint
from regard.data.lines import read_lines
from regard.data.locating import data_folder, located
from regard.data.pairs import JsonlFile, Pair, PairFile, ParallelFiles, TsvFile, read_pairs
from regard.data.splitting import Splits, split
from regard.data.store import TokenStore, open_store

__all__ = [
    "BatchPlan",
    "Batches",
    "Case",
    "JsonlFile",
    "Limits",
    "Pair",
    "PairFile",
    "PairReport",
    "ParallelFiles",
    "Splits",
    "TokenStore",
    "TsvFile",
    "by_pair",
    "by_source",
    "cache_folder",
    "data_folder",
    "fingerprint",
    "in_order",
    "located",
    "open_store",
    "read_lines",
    "read_pairs",
    "split",
]
