"""Nothing that is tested reaches out: who wants to speak with another machine is refused, as without a network."""

import errno
import ipaddress
import socket
from typing import Any

_connect, _connect_ex, _look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo


def is_near(host: object) -> bool:
    """This machine, or one beside it: Ray speaks with itself by the address that others would."""
    if not isinstance(host, str) or host in ("", "localhost", socket.gethostname(), socket.getfqdn()):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_private
    except ValueError:  # a name
        return False


def go_offline() -> None:
    """For this process and those that are forked from it."""

    def connect(self: socket.socket, address: Any) -> None:
        _refuse(self, address)
        _connect(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        _refuse(self, address)
        return _connect_ex(self, address)

    def look_up(host: Any, *others: Any, **more: Any) -> Any:
        if not is_near(host.decode() if isinstance(host, bytes) else host):
            raise socket.gaierror(socket.EAI_NONAME, f"tests have no network, but something asked for {host}")
        return _look_up(host, *others, **more)

    socket.socket.connect = connect  # type: ignore[method-assign]
    socket.socket.connect_ex = connect_ex  # type: ignore[method-assign]
    socket.getaddrinfo = look_up


def _refuse(asking: socket.socket, address: Any) -> None:
    sends = asking.family in (socket.AF_INET, socket.AF_INET6) and asking.type == socket.SOCK_STREAM
    if sends and not is_near(address[0]):
        raise OSError(errno.ENETUNREACH, f"tests have no network, but something wanted {address[0]}")
