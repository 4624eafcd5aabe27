"""regard explain"""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.arguments import (
    BeamOption,
    DeviceOption,
    ForbidOption,
    PrefixOption,
    RequireOption,
    RunArgument,
    SearchOption,
    ToOption,
    WithOption,
    search_options,
)
from regard.cli.console import notes, results, visible
from regard.core.errors import UserError, sentence

_WHOLE = (".html", ".json")


class Kind(StrEnum):
    cross = "cross"
    encoder = "encoder"
    decoder = "decoder"
    context = "context"


def explain(
    run: RunArgument,
    source: Annotated[str, typer.Argument(help="What to answer, such as 'Saturday 09 May 2018'.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Picture or data to write: .png, .svg, .html or .json."),
    ] = None,
    beam: BeamOption = None,
    to: ToOption = None,
    prefix: PrefixOption = "",
    require: RequireOption = None,
    forbid: ForbidOption = None,
    search: SearchOption = None,
    together: WithOption = None,
    words: Annotated[
        bool, typer.Option("--words", help="By words, as blanks separate them, instead of pieces.")
    ] = False,
    looks: Annotated[
        Kind,
        typer.Option(
            help="What to show: looks of the answer at the source (cross), of the source at itself (encoder), of the "
            "answer at itself (decoder), of a path at its context (context)."
        ),
    ] = Kind.cross,
    layer: Annotated[
        int | None, typer.Option(min=0, help="Layer to show, counted from 0. Default: their mean.")
    ] = None,
    head: Annotated[
        int | None, typer.Option(min=0, help="Head to show, counted from 0. Default: their mean.")
    ] = None,
    hide_special: Annotated[
        bool,
        typer.Option(
            "--hide-special", help="Leave marks such as that of the end out of the map (not for .json)."
        ),
    ] = False,
    device: DeviceOption = "auto",
) -> None:
    """Show what the model looked at while it answered.

    With a --beam above 1 also what the search considered, as a tree: here, in .html and in .json. What is asked of the
    answer is as in `regard predict`.
    """
    if looks != Kind.cross and output is not None and output.suffix.lower() == ".json":
        raise UserError(
            "--looks is for pictures and pages: a .json holds looks of every kind. Leave it out here."
        )
    if hide_special and output is not None and output.suffix.lower() == ".json":
        raise UserError("--hide-special is for pictures: a .json holds every piece. Leave it out here.")
    if (layer is not None or head is not None) and output is not None and output.suffix.lower() in _WHOLE:
        raise UserError(
            f"--layer and --head are for pictures: a {output.suffix} holds all. Leave them out here."
        )
    from regard.core.prediction import Request
    from regard.predictor import load
    from regard.viewing import TextView, save

    options = search_options(search, beam=beam)
    if (options.get("beam") or 1) > 1 and not options.get("sample"):
        options["record"] = True
    request = Request(source, prefix, require or (), forbid or (), to)
    answer = load(run, *(together or []), device=device).predict(request, attention="all", **options)
    if answer.problem:
        raise UserError(f"There is no answer: {sentence(answer.problem)}")
    if words and answer.attention.kinds:
        answer = replace(answer, attention=answer.attention.in_words())
    view = (answer.view or TextView()).showing(
        layer=layer, head=head, hide_special=hide_special, kind=looks.value
    )
    if output is None:
        results.print(view.letters(answer))
        return
    save(answer, output, view=view)
    results.print(visible(answer.text))
    notes.print(f"Wrote {output}.")
