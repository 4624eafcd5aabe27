"""regard score"""

import json
import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.arguments import (
    AlignBy,
    AlignByOption,
    AlignedHeadOption,
    AlignedLayerOption,
    DeviceOption,
    RunArgument,
    ThresholdOption,
    ToOption,
    WindowOption,
    WithOption,
    lines_ahead,
    linking,
)
from regard.cli.lines import lines
from regard.cli.predict import Form
from regard.core.errors import UserError

if TYPE_CHECKING:
    from regard.answers import Linking
    from regard.core.prediction import Prediction


def score(
    run: RunArgument,
    output_form: Annotated[
        Form,
        typer.Option("--output", help="json: an object for each pair, with its pieces."),
    ] = Form.text,
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments", help="Behind each number, after a tab, which words it was read off: 0-0 1-2."
        ),
    ] = False,
    align_by: AlignByOption = AlignBy.argmax,
    threshold: ThresholdOption = None,
    layer: AlignedLayerOption = None,
    head: AlignedHeadOption = None,
    to: ToOption = None,
    together: WithOption = None,
    device: DeviceOption = "auto",
    window: WindowOption = None,
) -> None:
    """Say how likely the model finds given answers.

    A line of stdin is `source<TAB>target`; its line on stdout is the log-probability of the target,
    its end included: what `regard predict --scores` says of an answer of its own. A target longer than the model
    was trained for gets -inf, with a warning: the number of a part would be too good.
    """
    links = linking(alignments, align_by, threshold, layer, head)
    from regard.core.kinds import CROSS, NOTHING
    from regard.forcing import force, left_out
    from regard.predictor import load

    predictor = load(run, *(together or []), device=device)
    wanted = NOTHING if links is None else frozenset({CROSS})
    for some in _windows(_pairs(lines()), lines_ahead(window, looks=alignments)):
        sources, targets = zip(*some, strict=True)
        for answer in force(predictor, sources, targets, to=to, wanted=wanted):
            cut = 0 if answer.finished else left_out(predictor, answer.text, to=to)
            value = -math.inf if cut else answer.score
            if output_form == Form.json:
                line = json.dumps(_object(answer, value, cut, links), ensure_ascii=False)
            else:
                line = "\t".join([f"{value:.6f}", *([links(answer)] if links else [])])
            sys.stdout.buffer.write(line.encode("utf-8", errors="replace") + b"\n")
        sys.stdout.buffer.flush()  # before more is read


def _object(answer: "Prediction", value: float, cut: int, links: "Linking | None") -> dict[str, Any]:
    return {
        "source": answer.source,
        "target": answer.text,
        "score": value if math.isfinite(value) else None,
        "pieces": list(answer.pieces),
        **({"cut": cut} if cut else {}),
        **({"alignment": links(answer)} if links else {}),
    }


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
        raise
    if some:
        yield some


def _pairs(given: Iterator[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(given, start=1):
        source, tab, target = line.partition("\t")
        if not tab or "\t" in target:
            raise UserError(f"Line {number} has no source and target with one tab between them: {line:.60}")
        yield source, target
