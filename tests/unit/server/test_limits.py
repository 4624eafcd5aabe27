"""Sizes, numbers, time: what is too much is refused, and nobody else has to wait for it."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from typing import Any

import pytest
from serving import RECURRENT, Gate, Here, here, until, untrained

ASK = json.dumps({"inputs": ["abc"]}).encode()
HEAD = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def raw(server: Here, *parts: bytes, pause: float = 0) -> bytes:
    """All that comes back until the server closes the connection."""
    with server.socket() as line:
        for part in parts:
            line.sendall(part)
            time.sleep(pause)
        found = b""
        while chunk := line.recv(65_536):
            found += chunk
        return found


def status(answer: bytes) -> int:
    return int(answer.split()[1])


@contextmanager
def waiting(server: Here, count: int, content: Any = None) -> Iterator[list[Any]]:
    """So many requests that are not answered yet."""
    replies: list[Any] = []

    def ask() -> None:
        replies.append(server.post("/v1/predict", content or {"inputs": ["abc"]}))

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    yield replies
    for thread in threads:
        thread.join()


def test_of_a_source_that_is_too_long_a_part_is_read_where_the_configuration_says_which(
    tmp_path: Path,
) -> None:
    settings = ("data.max_source=10", "data.long_source=first")
    run = untrained(tmp_path / "run", *RECURRENT, *settings)
    with here(run, limits={"pieces": 30}) as server:
        told = server.get("/v1/models").json["models"][0]
        assert told["limits"]["pieces"] == 30
        reply = server.post("/v1/predict", {"inputs": ["abc" * 10, "abc"], "return": ["pieces"]})
        long, short = reply.json["predictions"]
        assert (long["unread"], long["source_pieces"]) == (20, 30)
        assert "unread" not in short
        wishes = {"inputs": ["abc" * 10], "min_ratio": 0.5}  # of what is read
        assert server.post("/v1/predict", wishes).status == 200
        assert server.post("/v1/predict", {"inputs": ["a" * 31]}).status == 422
    with here(untrained(tmp_path / "other", *RECURRENT, settings[0])) as server:
        assert server.post("/v1/predict", {"inputs": ["a" * 11]}).status == 422


def test_a_body_that_says_it_is_too_large_is_refused_before_it_comes(runs: Path) -> None:
    with here(runs / "recurrent", limits={"body_bytes": 1000}) as server:
        answer = raw(server, HEAD + b"Content-Length: 1001\r\n\r\n")
        assert status(answer) == 413
        assert b"1,000 bytes" in answer
        reply = server.post("/v1/predict", b"x" * 200_000)
        assert reply.status == 413
        assert server.post("/v1/predict", ASK.ljust(1000)).status == 200


def test_a_body_that_does_not_say_its_size_is_counted_as_it_comes(runs: Path) -> None:
    with here(runs / "recurrent", limits={"body_bytes": 1000}) as server:
        head, chunk = HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1f4\r\n" + b" " * 500 + b"\r\n"
        assert status(raw(server, head, chunk, chunk, chunk)) == 413
        last = b"%x\r\n%b\r\n0\r\n\r\n" % (len(ASK), ASK)
        close = HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert status(raw(server, close, chunk, last)) == 200


def test_all_bodies_together_have_a_limit_too(runs: Path) -> None:
    with (
        here(runs / "recurrent", limits={"body_bytes": 1000, "bodies_bytes": 1500}) as server,
        server.socket() as slow,
    ):
        slow.sendall(HEAD + b"Content-Length: 1000\r\n\r\n" + b" " * 900)
        until(lambda: server.post("/v1/predict", ASK.ljust(900)).status == 503)
        assert server.post("/v1/predict", ASK).status == 200


@pytest.mark.parametrize("slow", ["head", "body"])
def test_a_client_that_drips_is_cut_off_and_others_are_served_meanwhile(runs: Path, slow: str) -> None:
    with here(runs / "recurrent", limits={"header_seconds": 1, "body_seconds": 1}) as server:
        whole = HEAD if slow == "head" else HEAD + b"Content-Length: 500\r\n\r\n"
        lines = [server.socket() for _ in range(20)]
        for line in lines:
            line.sendall(whole)
        assert server.texts(["abc"])
        answers = []
        for line in lines:
            with line, suppress(OSError):
                for _ in range(100):
                    line.sendall(b"x" if slow == "body" else b"X-More: 1\r\n")
                    line.settimeout(0.1)
                    with suppress(TimeoutError):
                        answers.append(line.recv(1000))
                        break
        if slow == "body":
            assert any(found.startswith(b"HTTP/1.1 408") for found in answers)
        until(lambda: server.count("connections") == 1)


def test_a_silent_connection_is_closed(runs: Path) -> None:
    with here(runs / "recurrent", limits={"header_seconds": 0.5, "idle_seconds": 1}) as server:
        assert raw(server) == b""
        answer = raw(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status(answer) == 200


def test_a_second_request_on_a_connection_has_to_come_in_time_too(runs: Path) -> None:
    with here(runs / "recurrent", limits={"header_seconds": 0.5, "idle_seconds": 60}) as server:
        answer = raw(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /he", pause=0.3)
        assert answer.count(b"HTTP/1.1") == 1


def test_a_client_that_reads_nothing_is_cut_off(runs: Path) -> None:
    limits = {"write_seconds": 0.5, "numbers": 10**8}
    with here(runs / "transformer", limits=limits) as server:
        ask = {"inputs": [f"{'a' * 40}{n}" for n in range(40)], "return": ["attention"], "attention": "all"}
        content = json.dumps(ask).encode()
        with server.socket() as line:
            line.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(content) + content)
            until(lambda: server.count("requests_under_way") == 0 and server.count("inputs_total") == 40)
            until(lambda: server.count("connections") == 1)


def test_connections_beyond_the_limit_are_told_so(runs: Path) -> None:
    with here(runs / "recurrent", limits={"connections": 3}) as server:
        lines = [server.socket() for _ in range(3)]
        until(lambda: server.get("/healthz").status == 503)
        reply = server.get("/healthz")
        assert reply.headers["retry-after"] == "1"
        assert "connections" in reply.json["error"]
        for line in lines:
            line.close()
        until(lambda: server.get("/healthz").status == 200)


def test_requests_beyond_the_limit_are_told_when_to_come_back(runs: Path) -> None:
    with here(runs / "recurrent", limits={"requests": 3}) as server:
        gate = Gate(server.models, "recurrent")
        with waiting(server, 3) as replies:
            until(lambda: server.count("requests_under_way") == 3)
            for path in ("/v1/predict", "/v1/stream"):
                reply = server.post(path, {"inputs": ["abc"]})
                assert reply.status == 429
                assert 1 <= int(reply.headers["retry-after"]) <= 60
            assert server.get("/healthz").status == 200
            gate.open.set()
        assert [reply.status for reply in replies] == [200] * 3
        assert server.count("refused_total") == 2
        assert server.texts(["abc"])


def test_refusals_are_alike_whether_the_application_saw_the_request_or_not(runs: Path) -> None:
    with here(runs / "recurrent", limits={"requests": 1}) as server:
        gate = Gate(server.models, "recurrent")
        with waiting(server, 1):
            until(lambda: server.count("requests_under_way") == 1)
            at_once = server.post("/v1/predict", {"inputs": ["abc"]})
            inside = server.post("/v1/predict", {"inputs": ["abc"]}, origin="http://localhost")
            gate.open.set()
        told = [(one.status, {**one.headers, "date": ""}, one.body) for one in (at_once, inside)]
        assert told[0] == told[1]
        assert at_once.status == 429
        assert server.count("refused_total") == 2
        counted = 'regard_requests_total{path="/v1/predict",status="429"} 2'
        assert counted in server.get("/metrics").body.decode().splitlines()


def test_a_connection_that_was_refused_is_good_for_the_next_request(runs: Path) -> None:
    """Also after longer than a head may take: nothing of one has come."""
    with here(runs / "recurrent", limits={"requests": 1, "header_seconds": 2, "idle_seconds": 60}) as server:
        gate = Gate(server.models, "recurrent")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

        def ask() -> int:
            connection.request("POST", "/v1/predict", ASK, {"content-type": "application/json"})
            reply = connection.getresponse()
            reply.read()
            return reply.status

        with waiting(server, 1):
            until(lambda: server.count("requests_under_way") == 1)
            assert [ask(), ask()] == [429, 429]
            time.sleep(2.5)
            gate.open.set()
        until(lambda: server.count("requests_under_way") == 0)
        assert ask() == 200
        connection.close()


def test_two_requests_in_one_go_are_both_answered(runs: Path) -> None:
    with here(runs / "recurrent", limits={"requests": 1}) as server:
        gate = Gate(server.models, "recurrent")
        asked = HEAD + b"Content-Length: %d\r\n\r\n" % len(ASK) + ASK
        with waiting(server, 1), server.socket() as line:
            until(lambda: server.count("requests_under_way") == 1)
            line.sendall(asked + asked)
            found = b""
            while found.count(b"HTTP/1.1 429") < 2:
                some = line.recv(10_000)
                assert some, found
                found += some
            gate.open.set()


def test_an_answer_behind_a_refusal_may_take_its_time(runs: Path) -> None:
    with here(runs / "recurrent", limits={"requests": 1, "idle_seconds": 1}) as server:
        gate = Gate(server.models, "recurrent")
        asked = HEAD + b"Content-Length: %d\r\n\r\n" % len(ASK) + ASK
        slow = HEAD.replace(b"predict", b"models") + b"Content-Length: 2\r\nConnection: close\r\n\r\n"
        with waiting(server, 1):
            until(lambda: server.count("requests_under_way") == 1)
            found = raw(server, asked + slow, b"{}", pause=1.5)  # longer than a connection may say nothing
            gate.open.set()
        assert found.index(b"HTTP/1.1 429") < found.index(b"HTTP/1.1 405")


def test_a_body_that_never_ends_is_cut_off_also_where_nobody_reads_it(runs: Path) -> None:
    with here(runs / "recurrent", limits={"requests": 1, "header_seconds": 0.5}) as server:
        gate = Gate(server.models, "recurrent")
        with waiting(server, 1), server.socket() as line:
            until(lambda: server.count("requests_under_way") == 1)
            line.sendall(HEAD + b"Content-Length: 1000\r\n\r\nx")
            assert line.recv(1000) == b""
            gate.open.set()


def test_inputs_beyond_the_queue_are_told_when_to_come_back(runs: Path) -> None:
    with here(runs / "recurrent", limits={"queue": 4, "batch": 1}) as server:
        gate = Gate(server.models, "recurrent")
        with waiting(server, 1) as first:
            until(lambda: gate.steps == 1)
            with waiting(server, 2, {"inputs": ["a", "b"]}) as others:
                until(lambda: server.count("inputs_waiting") == 4)
                reply = server.post("/v1/predict", {"inputs": ["abc"]})
                assert reply.status == 429
                assert "retry-after" in reply.headers
                gate.open.set()
        assert [reply.status for reply in first + others] == [200] * 3


def test_an_answer_that_takes_too_long_is_a_504_and_its_search_ends(runs: Path) -> None:
    with here(runs / "recurrent", limits={"deadline_seconds": 0.5}) as server:
        gate = Gate(server.models, "recurrent")
        reply = server.post("/v1/predict", {"inputs": ["abc"]})
        assert reply.status == 504
        assert "0.5 seconds" in reply.json["error"]
        events = [data for name, data in server.events({"inputs": ["abc"]}) if name == "error"]
        assert events[0]["status"] in (503, 504)
        gate.open.set()
        until(lambda: server.texts(["abc"]))
        assert gate.steps < 12 * 3  # one step of the first, none or one of the second, all of the last
        assert server.count("late_total") == 2


def test_a_request_that_waits_too_long_for_the_model_is_a_503(runs: Path) -> None:
    with here(runs / "recurrent", limits={"deadline_seconds": 1}) as server:
        gate = Gate(server.models, "recurrent")
        with waiting(server, 1) as first:
            until(lambda: gate.steps == 1)
            reply = server.post("/v1/predict", {"inputs": ["other"]})
        assert (first[0].status, reply.status) == (504, 503)
        assert "retry-after" in reply.headers
        gate.open.set()


def test_numbers_of_a_response_have_a_limit(runs: Path) -> None:
    with here(runs / "transformer", limits={"numbers": 10_000}) as server:
        ask = {"inputs": ["a" * 30] * 8, "return": ["attention"], "attention": "all"}
        reply = server.post("/v1/predict", ask)
        assert (reply.status, reply.json["field"], reply.json["most"]) == (422, "return", 10_000)
        assert reply.json["found"] > 10_000
        assert server.post("/v1/predict", {**ask, "return": ["pieces"]}).status == 200


def test_numbers_of_a_stream_are_counted_over_all_its_answers(runs: Path) -> None:
    ask = {"inputs": ["a" * 30] * 8, "return": ["attention"], "attention": "all"}

    def numbers(events: list[tuple[str, Any]]) -> list[int]:
        answers = [data["prediction"]["answers"][0] for name, data in events if name == "prediction"]
        return [
            sum(prod(look["shape"]) for look in one["attention"]["attention"].values()) for one in answers
        ]

    with here(runs / "transformer") as server:
        (each, *_) = whole = numbers(server.events(ask))
        assert whole == [each] * 8
    with here(runs / "transformer", limits={"numbers": 3 * each}) as server:
        events = server.events(ask)
        assert sum(numbers(events)) == 3 * each
        refused = [data for name, data in events if name == "error"]
        assert len(refused) == 5
        for one in refused:
            assert (one["status"], one["field"]) == (422, "return")
            assert (one["found"], one["most"]) == (4 * each, 3 * each)
        assert events[-1] == ("end", {})


def test_one_input_that_the_model_fails_on_takes_no_other_with_it(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with here(runs / "recurrent", limits={"batch_seconds": 0.2}) as server:
        codec = type(server.models.by_name["recurrent"].predictor.codec)
        collate = codec.collate

        def failing(self: Any, rows: Any) -> Any:
            if any(len(row) == 5 for row in rows):
                raise RuntimeError("user text in a message")
            return collate(self, rows)

        monkeypatch.setattr(codec, "collate", failing)
        replies: dict[str, int] = {}

        def ask(text: str) -> None:
            replies[text] = server.post("/v1/predict", {"inputs": [text]}).status

        threads = [threading.Thread(target=ask, args=(text,)) for text in ("a", "ab", "abcd", "abcdef")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert replies == {"a": 200, "ab": 200, "abcd": 500, "abcdef": 200}
        assert server.get("/readyz").status == 200
