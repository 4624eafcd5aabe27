"""Clients that go away take their work with them."""

import json
import random
import struct
import threading
from contextlib import suppress
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET

import pytest
from serving import Gate, Here, here, until


def sent(server: Here, path: str, text: str, **wishes: object) -> object:
    """A connection on which something was asked."""
    content = json.dumps({"inputs": [text], **wishes}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    line = server.socket()
    line.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(content) + content)
    return line


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/stream"])
@pytest.mark.parametrize("wishes", [{}, {"beam": 3}])
def test_the_search_of_a_client_that_left_ends_before_its_next_step(
    runs: Path, path: str, wishes: dict[str, int]
) -> None:
    with here(runs / "recurrent") as server:
        gate = Gate(server.models, "recurrent")
        line = sent(server, path, "abc", **wishes)
        until(lambda: gate.steps == 1)
        gate.let_through(2)
        until(lambda: gate.steps == 3)
        line.close()
        until(lambda: server.count("requests_under_way") == 0)
        gate.let_through()
        gate.open.set()
        assert server.texts(["other"])
        assert gate.steps <= 3 + 12
        assert server.count("cancelled_total") == 1


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/stream"])
def test_one_that_left_while_it_waited_is_never_begun(runs: Path, path: str) -> None:
    with here(runs / "recurrent", limits={"batch": 1}) as server:
        gate = Gate(server.models, "recurrent")
        first = sent(server, "/v1/predict", "abc")
        until(lambda: gate.steps == 1)
        second = sent(server, path, "def")
        until(lambda: server.count("inputs_waiting") == 1)
        second.close()
        until(lambda: server.count("inputs_waiting") == 0)
        gate.open.set()
        assert first.recv(100).startswith(b"HTTP/1.1 200")
        first.close()
        assert server.count("inputs_total") == 1


def test_who_shared_a_batch_with_one_that_left_gets_the_same_answer(runs: Path) -> None:
    with here(runs / "recurrent", limits={"batch_seconds": 0.3}) as server:
        expected = server.texts(["abc", "hello"])
        batches = server.count("batches_total")
        gate = Gate(server.models, "recurrent")
        found: list[list[str]] = []
        staying = threading.Thread(target=lambda: found.append(server.texts(["abc", "hello"])))
        staying.start()
        leaving = sent(server, "/v1/predict", "xyz")
        until(lambda: gate.steps == 1)
        gate.let_through(3)
        leaving.close()
        until(lambda: server.count("requests_under_way") == 1)
        gate.open.set()
        staying.join()
        assert found == [expected]
        assert server.count("batches_total") == batches + 1


def test_clients_that_leave_at_random_leave_nothing_behind(runs: Path) -> None:
    chance = random.Random(1)
    with here(runs / "recurrent", limits={"requests": 16, "queue": 32}) as server:
        for number in range(150):
            path = chance.choice(["/v1/predict", "/v1/stream"])
            line = sent(server, path, f"{number} May", beam=chance.choice([1, 4]))
            if chance.random() < 0.5:
                line.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a farewell
            if chance.random() < 0.3:
                line.settimeout(0.02)
                with suppress(TimeoutError):
                    line.recv(100)
            line.close()
        until(lambda: server.count("requests_under_way") == 0 and server.count("connections") == 1)
        assert server.count("inputs_waiting") == 0
        assert server.texts(["abc"])
