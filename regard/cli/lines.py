"""What comes in on stdin."""

import codecs
import io
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from regard.cli.console import notes
from regard.data.lines import LONGEST_LINE

_CHUNK = 65_536  # bytes


def lines() -> Iterator[str]:
    """Lines end with \\n and nothing else: no other character may shift the answers."""
    for number, raw in enumerate(_raw_lines(), start=1):
        if number == 1 and raw.startswith(codecs.BOM_UTF8):
            raw = raw.removeprefix(codecs.BOM_UTF8)
            if not raw:
                return  # as in a file of pairs, nothing but the mark is no line
        line = raw.removesuffix(b"\n").removesuffix(b"\r")
        if len(line) > LONGEST_LINE:
            notes.print(
                f"Warning: line {number} has more than {LONGEST_LINE:,} bytes; the rest of it is not read."
            )
            yield line[:LONGEST_LINE].decode("utf-8", errors="ignore")
            continue
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            notes.print(f"Warning: line {number}, byte {error.start + 1}: not UTF-8, read as U+FFFD.")
            yield line.decode("utf-8", errors="replace")


def _raw_lines() -> Iterator[bytes]:
    try:
        source = sys.stdin.buffer.fileno()
    except io.UnsupportedOperation:  # something that only looks like stdin
        yield from sys.stdin.buffer
        return
    begun = bytearray()  # of a line whose end has not come yet; of one that never ends, no more than is read
    for chunk in _chunks(source):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            yield bytes(begun + part + b"\n")
            begun.clear()
        if len(begun) <= LONGEST_LINE:
            begun += rest
    if begun:
        yield bytes(begun)


def _chunks(source: int) -> Iterator[bytes]:
    """What comes, as it comes. A Ctrl-C ends it, even one that came just before the waiting began, or while Python
    could not be interrupted: what is raised in a finalizer is printed and forgotten.
    """
    with _woken() as signals:
        while True:
            ready, _, _ = select.select([source, signals], [], [])
            if signals in ready:
                if signal.SIGINT in os.read(signals, _CHUNK):  # the numbers of the signals
                    raise KeyboardInterrupt
            elif chunk := os.read(source, _CHUNK):
                yield chunk
            else:
                return


@contextmanager
def _woken() -> Iterator[int]:
    """A pipe that can be read as soon as a signal came."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
