"""regard predict"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.arguments import (
    AlignBy,
    AlignByOption,
    AlignedHeadOption,
    AlignedLayerOption,
    BeamOption,
    BestOption,
    ComputeTypeOption,
    DeviceOption,
    EngineOption,
    ForbidOption,
    MbrOption,
    PrefixOption,
    RequireOption,
    RunArgument,
    SearchOption,
    ShortlistOption,
    ThresholdOption,
    ToOption,
    WindowOption,
    WithOption,
    lines_ahead,
    linking,
    search_options,
)
from regard.cli.console import notes, visible
from regard.cli.lines import lines
from regard.core.errors import sentence

if TYPE_CHECKING:
    from regard.answers import Linking
    from regard.core.prediction import Prediction, Request
    from regard.crowd import Crowd


Column = Callable[["Prediction"], str]


class Form(StrEnum):
    text = "text"
    json = "json"


def predict(
    run: RunArgument,
    beam: BeamOption = None,
    best: BestOption = None,
    mbr: MbrOption = None,
    to: ToOption = None,
    prefix: PrefixOption = "",
    require: RequireOption = None,
    forbid: ForbidOption = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Behind each answer, after a tab, its log-probability.")
    ] = False,
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments", help="Behind each answer, after a tab, which words it was read off: 0-0 1-2."
        ),
    ] = False,
    align_by: AlignByOption = AlignBy.argmax,
    threshold: ThresholdOption = None,
    layer: AlignedLayerOption = None,
    head: AlignedHeadOption = None,
    copy_unknown: Annotated[
        bool, typer.Option("--copy-unknown", help="Unknown words are copied from where the model looked.")
    ] = False,
    dictionary: Annotated[
        Path | None,
        typer.Option(help="The same, through a file with `source word<TAB>target word` in each line."),
    ] = None,
    input_form: Annotated[
        Form,
        typer.Option(
            "--input", help="json: a line is an object with source and perhaps to, prefix, require, forbid."
        ),
    ] = Form.text,
    output_form: Annotated[
        Form, typer.Option("--output", help="json: each answer is an object, with all that is known of it.")
    ] = Form.text,
    search: SearchOption = None,
    together: WithOption = None,
    device: DeviceOption = "auto",
    engine: EngineOption = None,
    compute_type: ComputeTypeOption = None,
    shortlist: ShortlistOption = False,
    window: WindowOption = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=4096,
            help="Processes that answer many lines, with a thread each. Default: one, with a thread for each core.",
        ),
    ] = None,
) -> None:
    """Answer each line of stdin with exactly one line on stdout.

    An empty line gets an empty line. Bytes that are not UTF-8 are read as U+FFFD, with a warning. Where no answer
    keeps the rules, the line is empty, with a warning. With --best there are as many lines for each, written
    as `number ||| answer ||| log-probability`.
    """
    links = linking(alignments, align_by, threshold, layer, head)
    from regard.core.allocation import keep_freed_memory
    from regard.core.prediction import Request
    from regard.crowd import SOURCES, Crowd
    from regard.predictor import load

    keep_freed_memory()
    runs = (run, *(together or []))
    how: dict[str, Any] = {
        "device": device,
        "copy_unknown": copy_unknown,
        "dictionary": dictionary,
        "engine": engine,
        "compute_type": compute_type,
        "shortlist": shortlist,
    }
    predictor = load(*runs, **how, workers=workers)
    options = search_options(search, beam=beam, best=best)
    ahead = lines_ahead(window, looks=alignments)
    common = Request("", prefix, require or (), forbid or (), to)
    if input_form == Form.text or to is not None:
        predictor.codec.check(common)  # refuses a language that it does not know before anything is read
    read = _objects if input_form == Form.json else _requests
    attention = "cross" if alignments else "none"
    columns: list[Column] = [_score] * scores + ([links] if links else [])
    requests = read(lines(), common)
    if workers is None or workers == 1 or ahead == 1 or predictor.engine is not None:
        answers = predictor.stream(requests, attention=attention, mbr=mbr, window=ahead, **options)
    else:
        wished = {"attention": attention, "mbr": mbr, **options}
        each = min(SOURCES, -(-ahead // workers))  # lines of a worker at a time
        answers = _by_workers(Crowd(*runs, workers=workers, **how), requests, {"sources": each, **wished})
    for number, answer in enumerate(answers, start=1):
        if answer.problem:
            notes.print(f"Warning: line {number} has no answer: {visible(sentence(answer.problem))}")
        told = (
            [json.dumps(_object(answer, links), ensure_ascii=False)]
            if output_form == Form.json
            else _written(number, answer, columns, numbered="best" in options)
        )
        for line in told:
            sys.stdout.buffer.write(line.encode("utf-8", errors="replace") + b"\n")
        if number % ahead == 0:
            sys.stdout.buffer.flush()  # before more is read
    sys.stdout.buffer.flush()


def _by_workers(
    crowd: "Crowd", requests: Iterator["Request"], options: dict[str, Any]
) -> Iterator["Prediction"]:
    with crowd:
        yield from crowd.stream(requests, **options)


def _written(
    number: int, answer: "Prediction", columns: Sequence[Column], *, numbered: bool
) -> Iterator[str]:
    if numbered:
        for one in (answer, *answer.alternatives):
            yield " ||| ".join(
                [
                    str(number),
                    _line(one).replace("|||", "| | |"),
                    *(show(one) for show in dict.fromkeys([_score, *columns])),
                ]
            )
    else:
        line = _line(answer).replace("\t", " ") if columns else _line(answer)
        yield "\t".join([line, *(show(answer) for show in columns)])


def _score(answer: "Prediction") -> str:
    return f"{answer.score:.6f}"


def _line(answer: "Prediction") -> str:
    return answer.text.replace("\n", " ")  # an answer may hold a newline; an output line may not


def _object(answer: "Prediction", links: "Linking | None") -> dict[str, Any]:
    from regard.answers import as_object

    best, *others = (
        {**as_object(one, ["scores", "pieces"]), **({"alignment": links(one)} if links else {})}
        for one in (answer, *answer.alternatives)
    )
    known: dict[str, Any] = {"source": answer.source, **best}
    if others:
        known["alternatives"] = others
    if answer.unread:
        known["unread"] = answer.unread
    if answer.problem:
        known["problem"] = answer.problem
    return known


def _requests(lines: Iterator[str], common: "Request") -> Iterator["Request"]:
    for line in lines:
        yield replace(common, text=line)


def _objects(lines: Iterator[str], common: "Request") -> Iterator["Request"]:
    """What a line says of itself goes before what was said for all. One that can't be read shifts no other."""
    from regard.core.prediction import Request

    for number, line in enumerate(lines, start=1):
        try:
            yield _request(json.loads(line), common)
        except (ValueError, RecursionError) as error:
            notes.print(f"Warning: line {number} is answered with nothing: {visible(str(error))}.")
            yield Request("")


def _request(found: Any, common: "Request") -> "Request":
    if not isinstance(found, dict) or not isinstance(found.get("source"), str):
        raise ValueError('it needs a text as "source"')
    request = replace(common, text=found.pop("source"))
    for name, value in found.items():
        is_text = name in ("prefix", "to") and isinstance(value, str)
        if is_text or (name in ("require", "forbid") and _are_texts(value)):
            request = replace(request, **{name: value})
        else:
            raise ValueError(
                f'"{name}" is {value!r:.40}, but prefix and to are texts, require and forbid are lists of texts'
            )
    return request


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
