"""What every request passes before it is read: names, keys, sizes, time; and what every response bears."""

import asyncio
import hmac
import ipaddress
import json
import logging
import time
from collections.abc import Iterable, Sequence
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.server.problems import Problem, busy, failed, place_of
from regard.server.settings import Limits
from regard.server.tallies import Tallies
from regard.viewing.labels import plain

log = logging.getLogger("regard.server")

SECURITY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
_SECURITY = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
ASKING = frozenset({"/v1/predict", "/v1/stream", "/translate"})  # where models are asked
GUARDED = ("/v1/", "/metrics")  # /translate asks for the key itself; what the API is, is no secret
CLIENT_GONE = 499  # nobody reads it; the counts do
LONGEST_TEXT = 2000  # characters of one in the log: a picture has a million
LINGER = (
    1.0  # seconds in which a body that is too large may come to its end: a client reads when it has written
)


class Keys:
    """Who may call: all, if there are no keys."""

    def __init__(self, keys: Iterable[str]):
        self._keys = [key.encode() for key in keys]

    def fit(self, given: str) -> bool:
        """In a time that tells nothing about the keys."""
        return not self._keys or bool(
            sum(hmac.compare_digest(key, given.encode("utf-8", "replace")) for key in self._keys)
        )

    def fit_headers(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return self.fit(token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", ""))


class Ledger:
    """What was asked and how it went: counts, and a line in the log."""

    def __init__(self, tallies: Tallies, log: str):
        self.tallies = tallies
        self.log = log

    def enter(
        self,
        method: str,
        path: str,
        status: int,
        seconds: float,
        model: str = "",
        texts: Sequence[str] = (),
    ) -> None:
        self.tallies.add("requests_total", 1, path=path, status=str(status))
        self.tallies.add("request_seconds_total", seconds, path=path)
        if self.log == "nothing":
            return
        asked = f" {model}, {len(texts)} input{'' if len(texts) == 1 else 's'}" if model else ""
        shown = [text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…" for text in texts]
        said = f" {json.dumps(shown, ensure_ascii=False)}" if self.log == "texts" and texts else ""
        log.info("%s %s %d %.0f ms%s%s", method[:10], path, status, 1000 * seconds, asked, plain(said))


class Account:
    """Outermost: the headers of every response, an entry in the ledger, and no traceback for anybody."""

    def __init__(self, app: ASGIApp, ledger: Ledger):
        self.app = app
        self.ledger = ledger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.monotonic(), 0
        noted: tuple[str, list[str]] = ("", [])

        def note(model: str, texts: Sequence[str]) -> None:
            nonlocal noted
            noted = (model, list(texts))

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = secured(message["headers"])
            await send(message)

        scope.setdefault("state", {})["note"] = note
        try:
            await self.app(scope, receive, answer)
        except Exception as error:
            log.error("A request failed with %s.", place_of(error))
            if not status:  # a guard failed: the application answers for itself
                await failed().response()(scope, receive, answer)
        self.ledger.enter(
            scope["method"], _path(scope), status or CLIENT_GONE, time.monotonic() - began, *noted
        )


def secured(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """With those that every response bears, where they say nothing else."""
    own = list(headers)
    given = {name.lower() for name, _ in own}
    return [*own, *(one for one in _SECURITY if one[0] not in given)]


def _path(scope: Scope) -> str:
    """As the API knows it: what somebody makes up is not counted apart, nor written down."""
    found = getattr(scope.get("route"), "path", None)
    return found or (scope["path"] if scope["path"] in ASKING else "other")


class Door:
    """Names under which the server may be called, pages that may call, and keys."""

    def __init__(self, app: ASGIApp, keys: Keys, hosts: Sequence[str], origins: Sequence[str]):
        self.app = app
        self.keys = keys
        self.hosts = frozenset(hosts)  # none: any
        self.origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = self._problem(scope) if scope["type"] == "http" else None
        await (problem.response() if problem else self.app)(scope, receive, send)

    def _problem(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        if self.hosts and _name(headers.get("host", "")) not in self.hosts:
            return Problem(
                421, "This server does not go by that name. Start it with --allow-host to give it another."
            )
        if scope["method"] == "POST" and not self._from_here(headers):
            return Problem(
                403, "Pages from elsewhere may not call. Start the server with --cors to let those of a site."
            )
        if not scope["path"].startswith(GUARDED) or self.keys.fit_headers(headers):
            return None
        return Problem(
            401,
            "This server asks for a key. Send it in a header: Authorization: Bearer KEY.",
            headers={"WWW-Authenticate": "Bearer"},
        )

    def _from_here(self, headers: Headers) -> bool:
        """Forms go to other sites without asking. Browsers say whose page it is; programs say nothing."""
        origin = headers.get("origin")
        if origin is None or headers.get("sec-fetch-site") == "same-origin":
            return True
        whose = origin.partition("://")[2]
        return (
            whose == headers.get("host") or _name(whose) in self.hosts or bool({origin, "*"} & self.origins)
        )


def own_hosts(address: str, others: Sequence[str]) -> list[str]:
    """Names a server on this address answers to; none, which is any, where others than this machine can reach it.

    A page from elsewhere could otherwise reach a server on the loopback through a name of its own.
    """
    try:
        loopback = address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        loopback = False
    return ["localhost", "127.0.0.1", "[::1]", address, *others] if loopback else list(others)


def _name(host: str) -> str:
    """Without the port."""
    return host[: host.rindex("]") + 1] if "]" in host else host.partition(":")[0]


class Gate:
    """Turns away who asks a model that has too much to do already, before anything is read: that must cost little."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asking = scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in ASKING
        problem = scope["state"]["desk"].crowded() if asking else None
        await (problem.response() if problem else self.app)(scope, receive, send)


class Bodies:
    """Reads the whole body before anybody works on it: within its size and its time, whatever its client does."""

    def __init__(self, app: ASGIApp, limits: Limits, most: int):
        self.app = app
        self.limits = limits
        self.most = most  # bytes of one
        self.held = 0  # bytes, of all requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = bytearray()
        try:
            try:
                whole = await self._read(scope, receive, body)
            except Problem as problem:
                await problem.response()(scope, receive, send)
                return
            if whole:
                await self.app(scope, _again(bytes(body), receive), send)
        finally:
            self.held -= len(body)

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> bool:
        """Fills the body; False if its client went away."""
        too_large = Problem(
            413,
            f"The body is larger than {self.most:,} bytes. Ask for less at once.",
            headers={"Connection": "close"},
        )
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                if _declared(scope) > self.most:
                    await _linger(receive)
                    raise too_large
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return False
                    body += message.get("body", b"")
                    self.held += len(message.get("body", b""))
                    if len(body) > self.most:
                        await _linger(receive)
                        raise too_large
                    if self.held > self.limits.bodies_bytes:
                        raise busy("Too much is being sent at once. Try again later.", seconds=1, status=503)
                    if not message.get("more_body", False):
                        return True
        except TimeoutError:
            raise Problem(
                408,
                f"The body did not come within {self.limits.body_seconds:g} seconds.",
                headers={"Connection": "close"},
            ) from None


def _declared(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0


async def _linger(receive: Receive) -> None:
    try:
        async with asyncio.timeout(LINGER):
            while (message := await receive())["type"] == "http.request" and message.get("more_body", False):
                pass
    except TimeoutError:
        pass


def _again(body: bytes, receive: Receive) -> Receive:
    """The body in one piece; after that only the news that the client has gone."""
    first: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again
