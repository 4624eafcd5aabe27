"""HTTP over sockets whose other ends may be slow, silent or too many."""

import asyncio
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.server.guards import SECURITY
from regard.server.problems import busy
from regard.server.settings import Limits


async def crowded(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers a connection too many."""
    problem = busy("Too many connections are open. Try again later.", seconds=1, status=503)
    problem.headers |= {"Connection": "close", **SECURITY}
    await problem.response()(scope, receive, send)


class PatientProtocol(H11Protocol):
    """uvicorn's protocol with an end to its patience.

    A request's head must come within its time, however slowly its bytes drip, and a response must be read.
    Connections beyond the limit are told so; beyond twice the limit they are cut off.
    """

    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    @property
    def _limits(self) -> Limits:
        limits: Limits = self.app_state["limits"]
        return limits

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state["connections"].value = len(self.connections)
        if len(self.connections) > 2 * self._limits.connections:
            transport.abort()
            return
        if len(self.connections) > self._limits.connections:
            self.app = crowded
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.app_state["connections"].value = len(self.connections)
        for timer in (self._timer, self._unread):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget_head()
        elif self._timer is None:
            self._expect_head()

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget_head()  # one that came right behind another

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
