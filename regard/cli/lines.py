"""What comes in on stdin."""

import codecs
import sys
from collections.abc import Iterator

from regard.cli.console import notes


def lines() -> Iterator[str]:
    """Lines end with \\n and nothing else: no other character may shift the answers."""
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        if number == 1 and raw.startswith(codecs.BOM_UTF8):
            raw = raw.removeprefix(codecs.BOM_UTF8)
            if not raw:
                return  # as in a file of pairs, nothing but the mark is no line
        line = raw.removesuffix(b"\n").removesuffix(b"\r")
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            notes.print(f"Warning: line {number}, byte {error.start + 1}: not UTF-8, read as U+FFFD.")
            yield line.decode("utf-8", errors="replace")
