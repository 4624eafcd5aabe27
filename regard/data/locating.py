"""Where data is, whatever the machine: `$REGARD_DATA/` at the start of a file's name."""

import os
from pathlib import Path

from regard.data.cache import cache_folder
from regard.data.sets import DATA_SETS

VARIABLE = "REGARD_DATA"


def data_folder() -> Path:
    """`REGARD_DATA`, or `data` in Regard's cache folder."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else cache_folder() / "data"


def located(name: str) -> Path:
    """The file of this name. No other variable is replaced."""
    prefix = f"${VARIABLE}/"
    return data_folder() / name.removeprefix(prefix) if name.startswith(prefix) else Path(name)


def if_missing(path: Path) -> str:
    """What to do when there is no such file."""
    folder = data_folder()
    if not path.is_relative_to(folder):
        return "Check the path."
    name = path.relative_to(folder).parts[0]
    fetch = f" `regard data {name}` fetches it." if name in DATA_SETS else ""
    return f"Set {VARIABLE} to the folder that holds {path.relative_to(folder)}.{fetch}"
