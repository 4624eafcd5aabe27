"""regard export"""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.arguments import RunArgument
from regard.cli.console import notes


def export(
    run: RunArgument,
    to: Annotated[str, typer.Option(metavar="ctranslate2|onnx", help="What the model is to run in.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder to write; a new one or an earlier export. Default: beside the run, RUN-ctranslate2.",
        ),
    ] = None,
    compute_type: Annotated[
        str,
        typer.Option(metavar="float32|int8", help="Numbers that are kept: int8 is smaller and rounded."),
    ] = "float32",
) -> None:
    """Write a model in the form of another engine, with all that it needs, into a folder of its own.

    `regard predict` and `regard serve` take a folder for CTranslate2 as they take a run. The two graphs for ONNX are
    for programs of your own. Needs `pip install 'regard[fast]'` or `'regard[onnx]'`.
    """
    from regard.engines import ENGINES
    from regard.engines import export as write

    made = write(run, to=to, output=output, compute_type=compute_type)
    notes.print(f"Wrote {made.folder}." + (" Next:" if to in ENGINES else ""))
    if to in ENGINES:
        notes.print(f"  regard predict {made.folder} < lines")
