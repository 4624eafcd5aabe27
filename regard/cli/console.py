"""Where things go: results to stdout, all else to stderr."""

import logging
import sys
from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from rich.highlighter import NullHighlighter
from rich.logging import RichHandler
from rich.table import Table

from regard.core.often import FirstFew

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


def side_by_side(columns: Iterable[int], table: Callable[[Sequence[int]], Table]) -> list[list[int]]:
    """The columns, as many in one table as a line has room for."""
    endless = results.options.update(width=10**6)  # else no table needs more than there is
    parts: list[list[int]] = [[]]
    for column in columns:
        wider = [*parts[-1], column]
        if parts[-1] and results.measure(table(wider), options=endless).maximum > results.width:
            parts.append([column])
        else:
            parts[-1] = wider
    return parts


def listen_to_warnings() -> "_Told":
    """The library reports through `logging`; people read it on stderr. What is given back tells the rest at the end."""
    if sys.stderr.isatty():
        handler: logging.Handler = RichHandler(
            console=notes, show_time=False, show_path=False, highlighter=NullHighlighter()
        )
        handler.setFormatter(_Visible("%(message)s"))
    else:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Visible("%(levelname)s: %(message)s"))
    first_few = _Told()
    handler.addFilter(first_few)
    logger = logging.getLogger("regard")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    return first_few


class _Told(FirstFew):
    def tell_the_rest(self) -> None:
        for line in self.rest():
            notes.print(line)


class _Visible(logging.Formatter):
    """A warning may quote a source."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        return visible(super().formatMessage(record))
