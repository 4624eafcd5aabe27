"""All commands together, and what happens when one fails."""

import errno
import sys
from typing import Annotated

import typer

from regard import __version__
from regard.cli.average import average
from regard.cli.compare import compare
from regard.cli.config import config
from regard.cli.console import fail, listen_to_warnings
from regard.cli.data import data
from regard.cli.doctor import doctor
from regard.cli.evaluate import evaluate
from regard.cli.explain import explain
from regard.cli.export import export
from regard.cli.new import new
from regard.cli.predict import predict
from regard.cli.recipes import recipes
from regard.cli.score import score
from regard.cli.serve import serve
from regard.cli.shortlist import shortlist
from regard.cli.sweep import sweep
from regard.cli.train import train
from regard.core.errors import UserError

app = typer.Typer(
    name="regard",
    help="Sequence-to-sequence learning with attention that you can see.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    new,
    train,
    predict,
    score,
    evaluate,
    explain,
    compare,
    sweep,
    serve,
    average,
    export,
    shortlist,
    recipes,
    data,
    doctor,
):
    app.command()(command)
app.add_typer(config, name="config")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (its callback does the work)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    warnings = listen_to_warnings()
    context.call_on_close(warnings.tell_the_rest)


def run() -> int:
    """Runs the command line; errors for people become a sentence and exit code 2, never a traceback."""
    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except UserError as error:
        return fail(str(error))
    except OSError as error:
        if error.errno is None or error.errno == errno.EPIPE:
            raise
        place = f"{error.filename}: " if error.filename else ""
        advice = " Free some space and run the same command again." if error.errno in NO_SPACE else ""
        return fail(f"{place}{error.strerror}.{advice}")
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        return fail(
            "This machine is out of memory. Lower training.batch_tokens (in a new run, with training.accumulate for "
            "steps as large), evaluation.batch_tokens, the beam or the model's widths."
        )
    return 0


def _is_out_of_memory(error: MemoryError | RuntimeError) -> bool:
    torch = sys.modules.get("torch")  # not imported: most commands that fail early never needed it
    if isinstance(error, MemoryError | getattr(torch, "OutOfMemoryError", MemoryError)):
        return True
    said = str(error).lower()  # on a CPU torch has no class of its own for it
    return any(word in said for word in ALLOCATOR)


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ALLOCATOR = ("not enough memory", "can't allocate memory", "defaultcpuallocator")
