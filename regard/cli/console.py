"""Where things go: results to stdout, all else to stderr."""

import logging
import sys

from rich.console import Console
from rich.highlighter import NullHighlighter
from rich.logging import RichHandler

# What is printed holds people's text: `[/x]` and `:smile:` come out as they are.
results = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
notes = Console(markup=False, emoji=False, highlight=False, soft_wrap=True, stderr=True)


def fail(sentence: str) -> int:
    """Says what is wrong in a sentence or two; gives the exit code."""
    notes.print("Error:", style="bold red", end=" ")
    notes.print(visible(sentence))
    return 2


def visible(text: str) -> str:
    """Fit for a terminal: one line, its control characters spelt out instead of obeyed."""
    from regard.viewing.labels import plain

    return plain(text)


def listen_to_warnings() -> None:
    """The library reports through `logging`; people read it on stderr."""
    if sys.stderr.isatty():
        handler: logging.Handler = RichHandler(
            console=notes, show_time=False, show_path=False, highlighter=NullHighlighter()
        )
        handler.setFormatter(_Visible("%(message)s"))
    else:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Visible("%(levelname)s: %(message)s"))
    logger = logging.getLogger("regard")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


class _Visible(logging.Formatter):
    """A warning may quote a source."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        return visible(super().formatMessage(record))
