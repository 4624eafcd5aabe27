"""Where things that can be made again are kept."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """`REGARD_CACHE`, or `regard` in the user's cache folder."""
    if chosen := os.environ.get("REGARD_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"
