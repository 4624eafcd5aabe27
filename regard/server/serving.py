"""Processes that listen: one, or several that share a socket."""

import os
import signal
import socket
import sys

import torch
import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from regard import build
from regard.core.cores import cores
from regard.core.errors import UserError
from regard.engines import find_folder
from regard.server.app import application
from regard.server.protocol import PatientProtocol
from regard.server.served import load_models, named_runs
from regard.server.settings import ServerSettings

HANDED_ON = "REGARD_SERVER"  # where worker processes find their settings


def bound(settings: ServerSettings) -> socket.socket:
    """The socket, before anything takes long: an address that is taken shows at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(
            f"Can't listen on {settings.host}, port {settings.port}: {reason}. Choose others with --host and --port."
        ) from None
    listener.set_inheritable(True)
    return listener


def serve(settings: ServerSettings, listener: socket.socket, *, worker: str) -> None:
    """Answers until SIGTERM or Ctrl-C, then finishes what is under way.

    Where several processes answer, each asks `worker`, such as `module:function`, for its application.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # uvicorn raises it again when it is done
    if settings.workers == 1:
        uvicorn.Server(configuration(settings, loaded(settings))).run(sockets=[listener])
        return
    for path in named_runs(settings.runs).values():
        find_folder(path).config()  # so that what is wrong is told once, and by this process
    build.device(settings.device)
    os.environ[HANDED_ON] = settings.model_dump_json()
    config = configuration(settings, worker)
    crew = Crew(config, sockets=[listener])
    crew.run()
    if any(process.exitcode == STARTUP_FAILURE for process in crew.processes):
        sys.exit(2)  # it has said why


class Crew(Multiprocess):
    """Worker processes, of which one that dies while it begins is missed at once."""

    def keep_subprocess_alive(self) -> None:
        for process in self.processes:
            process.child_conn.close()  # the worker has its own; ours would keep the line open when it is gone
        super().keep_subprocess_alive()


def loaded(settings: ServerSettings) -> object:
    """The application with its models, in this process."""
    threads = settings.threads or max(1, cores() // settings.workers)
    if settings.threads or "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(threads)
    models = load_models(
        settings.runs,
        settings.device,
        engine=settings.engine,
        compute_type=settings.compute_type,
        shortlist=settings.shortlist,
        workers=threads,
    )
    return application(models, settings)


def handed_on() -> ServerSettings:
    """The settings, in a worker process."""
    return ServerSettings.model_validate_json(os.environ[HANDED_ON])


def configuration(settings: ServerSettings, app: object) -> uvicorn.Config:
    limits = settings.limits
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        factory=isinstance(app, str),
        workers=settings.workers,
        http=PatientProtocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=limits.drain_seconds,
        timeout_worker_healthcheck=60,
    )
