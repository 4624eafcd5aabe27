"""regard serve"""

import os
import sys
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.arguments import ComputeTypeOption, DeviceOption, EngineOption, ShortlistOption
from regard.cli.console import fail, listen_to_warnings, notes
from regard.core.errors import UserError

KEY = "REGARD_API_KEY"


class Log(StrEnum):
    nothing = "nothing"
    requests = "requests"
    texts = "texts"


def serve(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Run folders; NAME=RUN gives a model another name.")
    ],
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all the world.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, max=256, help="Processes, each with the models in its memory.")
    ] = 1,
    threads: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Threads of a model. Default: all cores, shared.")
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Change a limit (docs/serve.md): beam=8. Can be repeated."),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(help=f"A file with a key in each line. A single one can be in {KEY} instead."),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A site whose pages may call: https://example.org."),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name under which it may be called.")
    ] = None,
    log: Annotated[
        Log, typer.Option(help="What to write to stderr; texts shows what users send.")
    ] = Log.requests,
    device: DeviceOption = "auto",
    engine: EngineOption = None,
    compute_type: ComputeTypeOption = None,
    shortlist: ShortlistOption = False,
) -> None:
    """Answer over HTTP: an API for programs, and LibreTranslate's.

    Ctrl-C or SIGTERM ends it, after what is under way. Needs `pip install 'regard[serve]'`.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise UserError(
            "The server needs packages that are not here. Get them: pip install 'regard[serve]'."
        ) from None
    from regard.server.serving import bound, serve
    from regard.server.settings import ServerSettings, parse_limits

    settings = ServerSettings(
        runs=tuple(runs),
        host=host,
        port=port,
        workers=workers,
        threads=threads,
        limits=parse_limits(limit or []),
        origins=tuple(cors or ()),
        hosts=tuple(allow_host or ()),
        keys=_keys(api_key_file),
        log=log,
        device=device,
        engine=engine,
        compute_type=compute_type,
        shortlist=shortlist,
    )
    with bound(settings) as listener, suppress(KeyboardInterrupt):
        address = listener.getsockname()
        shown = f"[{address[0]}]" if ":" in address[0] else address[0]
        notes.print(
            f"Listening on http://{shown}:{address[1]} as soon as the models are loaded. Ctrl-C ends it."
        )
        serve(settings, listener, worker="regard.cli.serve:worker")


def worker() -> object:
    """The application of one of several worker processes."""
    from uvicorn.config import STARTUP_FAILURE

    from regard.server.serving import handed_on, loaded

    listen_to_warnings()
    try:
        return loaded(handed_on())
    except UserError as error:
        fail(str(error))
        sys.exit(STARTUP_FAILURE)  # others would fail alike: none is started in its place


def _keys(path: Path | None) -> tuple[str, ...]:
    if path is None and KEY not in os.environ:
        return ()
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines() if path else [os.environ[KEY]]
    except UnicodeDecodeError:
        raise UserError(f"{path} is no text in UTF-8: write one key in a line.") from None
    keys = tuple(line.strip() for line in lines if line.strip())
    if not keys:
        raise UserError(
            f"{path} has no key: write one in a line."
            if path
            else f"{KEY} is set, but there is no key in it. Set it to one, or unset it to let everybody call."
        )
    if not all(key.isascii() for key in keys):
        raise UserError("Headers hold ASCII alone: make the keys of letters, digits and signs that it has.")
    return keys
