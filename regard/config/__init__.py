"""Every setting, typed: read from TOML, changed with `--set a.b=c`; unknown keys are refused.

Nothing below `build` knows this package: modules take plain arguments.
"""

from regard.config.data import Dates, Files, Pieces, Translation, TwoFiles
from regard.config.loading import (
    difference,
    find_config,
    load_config,
    of_preset,
    parse_config,
    read_toml,
    recipes,
)
from regard.config.model import Model
from regard.config.parts import NO_ATTENTION, Decoder, Encoder
from regard.config.presets import PRESETS
from regard.config.settings import Config, Origin

__all__ = [
    "NO_ATTENTION",
    "PRESETS",
    "Config",
    "Dates",
    "Decoder",
    "Encoder",
    "Files",
    "Model",
    "Origin",
    "Pieces",
    "Translation",
    "TwoFiles",
    "difference",
    "find_config",
    "load_config",
    "of_preset",
    "parse_config",
    "read_toml",
    "recipes",
]
