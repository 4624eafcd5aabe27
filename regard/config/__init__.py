"""Every setting, typed: read from TOML, changed with `--set a.b=c`; unknown keys are refused.

Nothing below `build.py` knows this package: modules take plain arguments.
"""

from regard.config.loading import difference, find_config, load_config, parse_config, read_toml, recipes
from regard.config.presets import PRESETS
from regard.config.settings import (
    NO_ATTENTION,
    Config,
    Dates,
    Decoder,
    Encoder,
    Files,
    Model,
    Pieces,
    Translation,
    TwoFiles,
)

__all__ = [
    "NO_ATTENTION",
    "PRESETS",
    "Config",
    "Dates",
    "Decoder",
    "Encoder",
    "Files",
    "Model",
    "Pieces",
    "Translation",
    "TwoFiles",
    "difference",
    "find_config",
    "load_config",
    "parse_config",
    "read_toml",
    "recipes",
]
