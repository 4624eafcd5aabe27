"""regard score"""

import json
import math
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from regard.cli.arguments import DeviceOption, RunArgument, ToOption, WithOption
from regard.cli.lines import lines
from regard.cli.predict import Form
from regard.core.errors import UserError


def score(
    run: RunArgument,
    output_form: Annotated[
        Form,
        typer.Option("--output", help="json: an object for each pair, with its pieces."),
    ] = Form.text,
    to: ToOption = None,
    together: WithOption = None,
    device: DeviceOption = "auto",
    window: Annotated[
        int, typer.Option(min=1, help="Pairs read ahead, to score like lengths together.")
    ] = 512,
) -> None:
    """Say how likely the model finds given answers.

    A line of stdin is `source<TAB>target`; its line on stdout is the log-probability of the target,
    its end included: what `regard predict --scores` says of an answer of its own.
    """
    from regard.core.kinds import NOTHING
    from regard.forcing import force
    from regard.predictor import load

    predictor = load(run, *(together or []), device=device)
    for some in _windows(_pairs(lines()), window):
        sources, targets = zip(*some, strict=True)
        for answer in force(predictor, sources, targets, to=to, wanted=NOTHING):
            known = {
                "source": answer.source,
                "target": answer.text,
                "score": answer.score if math.isfinite(answer.score) else None,
            }
            pieces = {"pieces": list(answer.pieces)}
            line = (
                json.dumps(known | pieces, ensure_ascii=False)
                if output_form == Form.json
                else f"{answer.score:.6f}"
            )
            sys.stdout.buffer.write(line.encode("utf-8", errors="replace") + b"\n")
    sys.stdout.buffer.flush()


def _windows(pairs: Iterator[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    """So many pairs at a time. Of a line that is none is told when those before it have been given."""
    some: list[tuple[str, str]] = []
    try:
        for pair in pairs:
            some.append(pair)
            if len(some) == size:
                yield some
                some = []
    except UserError:
        if some:
            yield some
        sys.stdout.buffer.flush()
        raise
    if some:
        yield some


def _pairs(given: Iterator[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(given, start=1):
        source, tab, target = line.partition("\t")
        if not tab or "\t" in target:
            raise UserError(f"Line {number} has no source and target with one tab between them: {line:.60}")
        yield source, target
