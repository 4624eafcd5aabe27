"""regard average"""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.arguments import RunArgument
from regard.cli.console import notes


def average(
    run: RunArgument,
    last: Annotated[
        int | None,
        typer.Option(min=1, help="How many of the newest checkpoints. Default: as many as the run keeps."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for the model; a new one. Default: averaged/ in the run."
        ),
    ] = None,
) -> None:
    """Average the weights of a run's newest checkpoints into a model of its own.

    The run's model stays as it is: `regard evaluate` says which of the two is better.
    """
    from regard.averaging import average as write

    made = write(run, last=last, output=output)
    steps = ", ".join(f"{step:,}" for step in made.steps)
    notes.print(f"Wrote {made.folder}, the mean of the checkpoints at steps {steps}. Next:")
    notes.print(f"  regard evaluate {made.folder}")
