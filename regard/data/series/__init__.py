"""Tracks from files, and windows of them as pairs."""

from regard.data.series.eth_ucy import FOLDS, SCENES, Fold, read_pedestrians
from regard.data.series.npz import read_npz
from regard.data.series.tables import Columns, read_csv
from regard.data.series.tracks import Track, windows

__all__ = [
    "FOLDS",
    "SCENES",
    "Columns",
    "Fold",
    "Track",
    "read_csv",
    "read_npz",
    "read_pedestrians",
    "windows",
]
