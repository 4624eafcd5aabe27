"""Files to pairs, pairs to a memory-mapped store, the store to batches by token budget."""

from regard.data.batches import Batches, BatchPlan, in_order
from regard.data.cache import cache_folder
from regard.data.cases import Case, by_pair, by_source
from regard.data.filtering import WINDOWS, FilteredPairs, Filters, Limits, PairReport
from regard.data.fingerprints import fingerprint
from regard.data.lines import BadLineError, read_lines, try_lines
from regard.data.locating import data_folder, located
from regard.data.looking import Spread, Survey, look
from regard.data.mixing import Mixture, shares
from regard.data.pairs import JsonlFile, Pair, PairFile, PairReader, ParallelFiles, TsvFile, read_pairs
from regard.data.splitting import Splits, TooFewError, split
from regard.data.store import TokenStore, open_store

__all__ = [
    "WINDOWS",
    "BadLineError",
    "BatchPlan",
    "Batches",
    "Case",
    "FilteredPairs",
    "Filters",
    "JsonlFile",
    "Limits",
    "Mixture",
    "Pair",
    "PairFile",
    "PairReader",
    "PairReport",
    "ParallelFiles",
    "Splits",
    "Spread",
    "Survey",
    "TokenStore",
    "TooFewError",
    "TsvFile",
    "by_pair",
    "by_source",
    "cache_folder",
    "data_folder",
    "fingerprint",
    "in_order",
    "located",
    "look",
    "open_store",
    "read_lines",
    "read_pairs",
    "shares",
    "split",
    "try_lines",
]
