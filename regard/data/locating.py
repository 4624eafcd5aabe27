"""Where data is, whatever the machine: `$REGARD_DATA/` or `$REGARD_CACHE/` at the start of a file's name."""

import os
from pathlib import Path

from regard.data.cache import cache_folder
from regard.data.sets import DATA_SETS

VARIABLE = "REGARD_DATA"
IN_CACHE = "$REGARD_CACHE/"  # what Regard made itself


def data_folder() -> Path:
    """`REGARD_DATA`, or `data` in Regard's cache folder."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else cache_folder() / "data"


def located(name: str) -> Path:
    """The file of this name. No other variable is replaced."""
    for prefix, folder in ((f"${VARIABLE}/", data_folder), (IN_CACHE, cache_folder)):
        if name.startswith(prefix):
            return folder() / name.removeprefix(prefix)
    return Path(name)


def if_missing(path: Path) -> str:
    """What to do when there is no such file."""
    folder = data_folder()
    if not path.is_relative_to(folder):
        return "Check the path."
    name = path.relative_to(folder).parts[0]
    fetch = f" `regard data {name}` fetches it." if name in DATA_SETS else ""
    return f"Set {VARIABLE} to the folder that holds {path.relative_to(folder)}.{fetch}"
