"""Engines: what runs a trained model in the place of torch. They stand above `build` and below the predictor."""

from regard.engines.engine import Engine
from regard.engines.exporting import ENGINES, EXPORTS, export, load_engine
from regard.engines.folders import Export, find_export, find_folder

__all__ = ["ENGINES", "EXPORTS", "Engine", "Export", "export", "find_export", "find_folder", "load_engine"]
