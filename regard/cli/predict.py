"""regard predict"""

import codecs
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.arguments import (
    BeamOption,
    BestOption,
    DeviceOption,
    MbrOption,
    RunArgument,
    SearchOption,
    WithOption,
)
from regard.cli.console import notes
from regard.core.errors import UserError

if TYPE_CHECKING:
    from regard.core.prediction import Prediction, Request


class Form(StrEnum):
    text = "text"
    json = "json"


def predict(
    run: RunArgument,
    beam: BeamOption = None,
    best: BestOption = None,
    mbr: MbrOption = None,
    prefix: Annotated[str, typer.Option(help="Every answer begins with this.")] = "",
    require: Annotated[
        list[str] | None, typer.Option(help="A word or phrase that every answer has. Can be repeated.")
    ] = None,
    forbid: Annotated[
        list[str] | None, typer.Option(help="A word or phrase that no answer has. Can be repeated.")
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Behind each answer, after a tab, its log-probability.")
    ] = False,
    input_form: Annotated[
        Form,
        typer.Option(
            "--input", help="json: a line is an object with source and perhaps prefix, require, forbid."
        ),
    ] = Form.text,
    output_form: Annotated[
        Form, typer.Option("--output", help="json: each answer is an object, with all that is known of it.")
    ] = Form.text,
    search: SearchOption = None,
    together: WithOption = None,
    device: DeviceOption = "auto",
    window: Annotated[
        int, typer.Option(min=1, help="Lines read ahead, to answer like lengths together.")
    ] = 512,
) -> None:
    """Answer each line of stdin with exactly one line on stdout.

    An empty line gets an empty line. Bytes that are not UTF-8 are read as U+FFFD, with a warning. Where no answer
    keeps the rules, the line is empty, with a warning. With --best there are as many lines for each, written
    as `number ||| answer ||| log-probability`.
    """
    from regard.core.prediction import Request
    from regard.predictor import load
    from regard.search import parse

    predictor = load(run, *(together or []), device=device)
    options = {**parse(search or []), "beam": beam, "best": best}
    if beam is None:
        options.pop("beam")
    if sys.stdin.isatty():
        window = 1  # somebody is typing: answer every line at once
    common = Request("", prefix, require or (), forbid or ())
    read = _objects if input_form == Form.json else _requests
    answers = predictor.stream(read(_lines(), common), attention="none", mbr=mbr, window=window, **options)  # type: ignore[arg-type]
    for number, answer in enumerate(answers, start=1):
        if answer.problem:
            notes.print(f"Warning: line {number} has no answer: {answer.problem}.")
        for line in _written(number, answer, output_form, scores=scores, numbered=best is not None):
            sys.stdout.buffer.write(line.encode("utf-8", errors="replace") + b"\n")
        if window == 1:
            sys.stdout.buffer.flush()
    sys.stdout.buffer.flush()


def _written(number: int, answer: "Prediction", form: Form, *, scores: bool, numbered: bool) -> Iterator[str]:
    if form == Form.json:
        yield json.dumps(_object(answer), ensure_ascii=False)
    elif numbered:
        for one in (answer, *answer.alternatives):
            yield f"{number} ||| {_line(one)} ||| {one.score:.6f}"
    else:
        yield f"{_line(answer)}\t{answer.score:.6f}" if scores else _line(answer)


def _line(answer: "Prediction") -> str:
    return answer.text.replace("\n", " ")  # an answer may hold a newline; an output line may not


def _object(answer: "Prediction") -> dict[str, Any]:
    known: dict[str, Any] = {"source": answer.source, **_result(answer)}
    if answer.alternatives:
        known["alternatives"] = [_result(one) for one in answer.alternatives]
    if answer.problem:
        known["problem"] = answer.problem
    return known


def _result(answer: "Prediction") -> dict[str, Any]:
    return {
        "text": answer.text,
        "score": answer.score,
        "rank": answer.rank,
        "finished": answer.finished,
        "pieces": list(answer.pieces),
    }


def _requests(lines: Iterator[str], common: "Request") -> Iterator["Request"]:
    for line in lines:
        yield replace(common, text=line)


def _objects(lines: Iterator[str], common: "Request") -> Iterator["Request"]:
    """What a line says of itself goes before what was said for all."""
    for number, line in enumerate(lines, start=1):
        try:
            yield _request(json.loads(line), common)
        except (ValueError, RecursionError) as error:
            raise UserError(f"Line {number} is no object that can be answered: {error}.") from error


def _request(found: Any, common: "Request") -> "Request":
    if not isinstance(found, dict) or not isinstance(found.get("source"), str):
        raise ValueError('it needs a text as "source"')
    request = replace(common, text=found.pop("source"))
    for name, value in found.items():
        if name == "prefix" and isinstance(value, str):
            request = replace(request, prefix=value)
        elif name in ("require", "forbid") and _are_texts(value):
            request = replace(request, **{name: value})
        else:
            raise ValueError(
                f'"{name}" is {value!r:.40}, but prefix is a text, require and forbid are lists of texts'
            )
    return request


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)


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
