"""All commands together, and what happens when one fails."""

import errno
from typing import Annotated

import typer

from regard import __version__
from regard.cli.config import config
from regard.cli.console import fail, listen_to_warnings, notes
from regard.cli.doctor import doctor
from regard.cli.evaluate import evaluate
from regard.cli.explain import explain
from regard.cli.predict import predict
from regard.cli.recipes import recipes
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
for command in (train, predict, evaluate, explain, recipes, doctor):
    app.command()(command)
app.add_typer(config, name="config")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # noqa: ARG001 (its callback does the work)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    listen_to_warnings()


def run() -> int:
    """Runs the command line; errors for people become a sentence and exit code 2, never a traceback."""
    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except UserError as error:
        return fail(str(error))
    except KeyboardInterrupt:
        notes.print("Stopped.")
        return 130
    except OSError as error:
        if error.errno is None or error.errno == errno.EPIPE:
            raise
        place = f"{error.filename}: " if error.filename else ""
        advice = " Free some space and run the same command again." if error.errno in NO_SPACE else ""
        return fail(f"{place}{error.strerror}.{advice}")
    return 0


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
