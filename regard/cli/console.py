"""Where things go: results to stdout, all else to stderr."""

import logging
import sys

from rich.console import Console
from rich.logging import RichHandler

results = Console(highlight=False, soft_wrap=True)
notes = Console(stderr=True, highlight=False, soft_wrap=True)


def fail(sentence: str) -> int:
    """Says what is wrong in a sentence or two; gives the exit code."""
    notes.print("Error:", style="bold red", end=" ")
    notes.print(sentence, markup=False)
    return 2


def listen_to_warnings() -> None:
    """The library reports through `logging`; people read it on stderr."""
    if sys.stderr.isatty():
        handler: logging.Handler = RichHandler(console=notes, show_time=False, show_path=False)
    else:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logger = logging.getLogger("regard")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
