"""HTTP over sockets whose other ends may be slow, silent or too many."""

import asyncio
from functools import lru_cache
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from regard.server.desk import Desk
from regard.server.guards import ASKING, SECURITY, Ledger, secured
from regard.server.problems import Problem, busy
from regard.server.settings import Limits

HEAD_BYTES = 32_768  # of a request's head
CHUNK_BYTES = 16  # that a body may have besides itself for each of its bytes, where it comes in chunks


async def one_too_many(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers a connection too many."""
    problem = busy("Too many connections are open. Try again later.", seconds=1, status=503)
    problem.headers |= {"Connection": "close", **SECURITY}
    await problem.response()(scope, receive, send)


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's protocol with an end to its patience.

    A request's head must come within its time, however slowly its bytes drip, and a response must be read. What is
    no body has its limit. Connections beyond the limit are told so; beyond twice the limit they are cut off.

    Who asks a model that has too much to do is told so here, in a fraction of the time that the application
    would take: where ten times too much is asked, that time is what the model lacks.
    """

    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _refused: Problem | None = None  # the request whose body comes in
    _came = 0  # bytes, since the request before
    _bodies = 0  # of them

    @property
    def _limits(self) -> Limits:
        limits: Limits = self.app_state["limits"]
        return limits

    @property
    def _path(self) -> str:
        path: str = self.url.partition(b"?")[0].decode("latin-1")
        return path

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state["connections"].value = len(self.connections)
        if len(self.connections) > 2 * self._limits.connections:
            transport.abort()
            return
        if len(self.connections) > self._limits.connections:
            self.app = one_too_many
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.app_state["connections"].value = len(self.connections)
        for timer in (self._timer, self._unread):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._came += len(data)
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget_head()
        elif self._timer is None and self._came:  # of a head that is not whole yet
            self._expect_head()
        if (
            self._came - self._bodies > HEAD_BYTES + CHUNK_BYTES * self._bodies
            and not self.transport.is_closing()
        ):
            self.send_400_response("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        self._unset_keepalive_if_required()  # one may have been refused in the same breath
        self._refused = self._refusal()
        if self._refused is None:
            super().on_headers_complete()

    def _refusal(self) -> Problem | None:
        """What would be said to a plain request of which nothing but its address has to be known."""
        free = self.cycle is None or self.cycle.response_complete
        plain = not self.expect_100_continue and all(name != b"origin" for name, _ in self.headers)
        if self._path not in ASKING or self.parser.get_method() != b"POST" or not free or not plain:
            return None
        desk: Desk = self.app_state["desk"]
        return desk.crowded() if self.app != one_too_many else None

    def on_body(self, body: bytes) -> None:
        self._bodies += len(body)
        if self._refused is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._came = self._bodies = 0
        if self._refused is None:
            super().on_message_complete()
        else:
            self._refuse(self._refused)

    def _refuse(self, problem: Problem) -> None:
        ledger: Ledger = self.app_state["ledger"]
        ledger.enter("POST", self._path, problem.status, 0.0)
        stays = self.parser.should_keep_alive()
        self._say(problem, closing=not stays)
        self._refused = None
        self._forget_head()
        if stays:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def send_400_response(self, msg: str) -> None:
        """uvicorn's sentence about what is no HTTP, said as everything else is."""
        self._say(Problem(400, msg), closing=True)

    def _say(self, problem: Problem, *, closing: bool) -> None:
        head = [b"%b: %b\r\n" % header for header in self.server_state.default_headers]
        rest = _written(problem.status, problem.error, tuple(problem.headers.items()), closing)
        self.transport.write(b"".join([STATUS_LINE[problem.status], *head, rest]))
        if closing:
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self._limits.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _expect_head(self) -> None:
        self._timer = self.loop.call_later(self._limits.header_seconds, self.transport.abort)

    def _forget_head(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@lru_cache(maxsize=100)
def _written(status: int, error: str, headers: tuple[tuple[str, str], ...], closing: bool) -> bytes:
    """A response from its second line on."""
    response = Problem(status, error, headers=dict(headers)).response()
    last = [(b"connection", b"close")] if closing else []
    lines = [b"%b: %b\r\n" % header for header in [*secured(response.raw_headers), *last]]
    return b"".join([*lines, b"\r\n", bytes(response.body)])
