"""The application: routes, and the guards around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from regard import __version__
from regard.server import api, documents, health, libretranslate
from regard.server.desk import Desk, Gone
from regard.server.guards import CLIENT_GONE, Account, Bodies, Door, Gate, Keys, Ledger, own_hosts
from regard.server.problems import Problem, failed
from regard.server.served import Models
from regard.server.settings import ServerSettings
from regard.server.tallies import Tallies
from regard.server.wire import Ask
from regard.server.work import Line, Worker

SAID = {
    404: "There is nothing at this address. /docs tells what there is.",
    405: "This address is not asked that way. /docs tells how.",
}


@dataclass
class Gauge:
    value: int = 0


def application(models: Models, settings: ServerSettings) -> ASGIApp:
    """The models behind the API, guarded."""
    keys, ledger = Keys(settings.keys), Ledger(Tallies(), settings.log)
    app: ASGIApp = Bodies(
        _routes(models, settings, ledger, keys), settings.limits, models.body_bytes(settings.limits)
    )
    app = Door(Gate(app), keys, own_hosts(settings.host, settings.hosts), settings.origins)
    if settings.origins:  # before the door: browsers ask whether they may call without a key
        app = CORSMiddleware(
            app,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "x-api-key"],
        )
    return Account(app, ledger)


def _routes(models: Models, settings: ServerSettings, ledger: Ledger, keys: Keys) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
        line = Line(settings.limits)
        worker = Worker(line, ledger.tallies)
        worker.start()
        yield {
            "desk": Desk(models, settings.limits, line, ledger.tallies),
            "ledger": ledger,
            "worker": worker,
            "keys": keys,
            "limits": settings.limits,
            "connections": Gauge(),
        }
        line.close()
        worker.join(settings.limits.drain_seconds)

    app = FastAPI(
        title="Regard",
        version=__version__,
        description="Sequence-to-sequence models with attention that you can see.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(api.router)
    app.include_router(libretranslate.router)
    app.include_router(health.router)
    documents.describe(app, Ask, libretranslate.Translate)
    app.add_exception_handler(Problem, _refused)
    app.add_exception_handler(Gone, lambda _, __: Response(status_code=CLIENT_GONE))
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(Exception, _failed)
    folder = files("regard.server")
    style = folder.joinpath("docs.css").read_bytes()
    app.add_api_route("/docs", lambda: HTMLResponse(documents.page(app.openapi())), include_in_schema=False)
    app.add_api_route(
        "/docs/style.css", lambda: Response(style, media_type="text/css"), include_in_schema=False
    )
    _add_files(app, "/", Path(str(folder.joinpath("page"))))
    _add_files(
        app, "/house/", Path(str(files("regard.viewing").joinpath("assets")))
    )  # its colours are theirs
    return app


def _add_files(app: FastAPI, place: str, folder: Path) -> None:
    """A route for each file: nothing else of the disk can be asked for."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix().removesuffix("index.html")
            app.add_route(f"{place}{name}", partial(_file, path), methods=["GET"])


async def _file(path: Path, _: Request) -> Response:
    return FileResponse(path)


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


def _unknown(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = SAID.get(error.status_code, str(error.detail))
    return Problem(error.status_code, said, headers=error.headers).response()


def _failed(_: Request, __: Exception) -> Response:
    return failed().response()  # and the error goes on to the account, which logs it
