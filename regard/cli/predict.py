"""regard predict"""

import codecs
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from regard.cli.arguments import BeamOption, DeviceOption, RunArgument
from regard.cli.console import notes


def predict(
    run: RunArgument,
    beam: BeamOption = None,
    device: DeviceOption = "auto",
    window: Annotated[
        int, typer.Option(min=1, help="Lines read ahead, to answer like lengths together.")
    ] = 512,
) -> None:
    """Answer each line of stdin with exactly one line on stdout.

    An empty line gets an empty line. Bytes that are not UTF-8 are read as U+FFFD, with a warning.
    """
    from regard.predictor import load

    predictor = load(run, device=device)
    if sys.stdin.isatty():
        window = 1  # somebody is typing: answer every line at once
    for prediction in predictor.stream(_lines(), beam=beam, attention="none", window=window):
        answer = prediction.text.replace("\n", " ")  # an answer may hold a newline; an output line may not
        sys.stdout.buffer.write(answer.encode("utf-8", errors="replace") + b"\n")
        if window == 1:
            sys.stdout.buffer.flush()
    sys.stdout.buffer.flush()


def _lines() -> Iterator[str]:
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
