"""Where things go: results to stdout, all else to stderr."""

import logging
import sys
from collections import Counter

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


def listen_to_warnings() -> "_FirstFew":
    """The library reports through `logging`; people read it on stderr. What is given back tells the rest at the end."""
    if sys.stderr.isatty():
        handler: logging.Handler = RichHandler(
            console=notes, show_time=False, show_path=False, highlighter=NullHighlighter()
        )
        handler.setFormatter(_Visible("%(message)s"))
    else:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Visible("%(levelname)s: %(message)s"))
    first_few = _FirstFew()
    handler.addFilter(first_few)
    logger = logging.getLogger("regard")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    return first_few


FEW = 3


class _FirstFew(logging.Filter):
    """Of warnings that may come thousands of times (their record says as what they are counted), lets a few pass."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        kind = getattr(record, "counted_as", None)
        if kind is None:
            return True
        self.counts[kind] += 1
        return self.counts[kind] <= FEW

    def tell_the_rest(self) -> None:
        for kind, count in self.counts.items():
            if count > FEW:
                notes.print(f"Warning: {count - FEW:,} more {kind}; {count:,} in all.")


class _Visible(logging.Formatter):
    """A warning may quote a source."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        return visible(super().formatMessage(record))
