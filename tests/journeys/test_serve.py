"""`regard serve` as a person uses it: real processes on the loopback."""

import json
import shutil
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from commands import regard, sentence
from serving import RECURRENT, TRANSFORMER, process, until, untrained

LINES = [f"{day} May {1990 + day}" for day in range(1, 11)] + ["", "Größe", "x"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    untrained(folder / "runs" / "recurrent", *RECURRENT)
    untrained(folder / "runs" / "long", *TRANSFORMER, "search.max_length=150", "data.max_target=150")
    return folder


def told(folder: Path, run: str, *options: str) -> list[dict[str, Any]]:
    """What `regard predict` answers."""
    done = regard(
        "predict", f"runs/{run}", "--output", "json", *options, folder=folder, stdin="\n".join(LINES).encode()
    )
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def test_answers_are_those_of_regard_predict_alone_and_beside_others(home: Path) -> None:
    expected = told(home, "recurrent", "--beam", "3", "--best", "2")
    with process("first=runs/recurrent", "runs/long", folder=home) as (_, client):
        ask = {"model": "first", "beam": 3, "best": 2, "return": ["pieces", "scores"]}
        found: dict[int, Any] = {}

        def one(number: int) -> None:
            found[number] = client.post("/v1/predict", {**ask, "inputs": [LINES[number]]}).json

        threads = [threading.Thread(target=one, args=(number,)) for number in range(len(LINES))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        together = client.post("/v1/predict", {**ask, "inputs": LINES}).json["predictions"]
    for number, known in enumerate(expected):
        for answers in (together[number]["answers"], found[number]["predictions"][0]["answers"]):
            for answer, other in zip(answers, [known, *known.get("alternatives", [])], strict=True):
                assert (answer["text"], answer["pieces"]) == (other["text"], other["pieces"])
                assert answer["score"] == pytest.approx(other["score"], abs=1e-4)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_what_is_under_way_is_answered_before_the_server_ends(home: Path, ending: int) -> None:
    patient = ("--limit", "deadline_seconds=600", "--limit", "drain_seconds=600")
    with process("runs/long", *patient, folder=home) as (running, client):
        replies: list[Any] = []
        ask = {"inputs": LINES[:4], "beam": 4, "return": ["pieces"], "min_length": 100, "max_length": 120}
        asking = threading.Thread(target=lambda: replies.append(client.post("/v1/predict", ask)))
        asking.start()
        until(lambda: client.count("requests_under_way") == 1)
        running.send_signal(ending)
        asking.join()
        assert running.wait(300) == 0
        assert replies[0].status == 200
        assert len(replies[0].json["predictions"]) == 4
        with pytest.raises(OSError):  # noqa: PT011 (refused or reset)
            client.get("/healthz")
    assert "Traceback" not in (home / "server.log").read_text()


def test_several_processes_share_a_port_and_end_together(home: Path) -> None:
    with process("runs/recurrent", "--workers", "2", folder=home) as (running, client):
        assert len({client.texts(["abc"])[0] for _ in range(6)}) == 1
        running.send_signal(signal.SIGTERM)
        assert running.wait(300) == 0
    assert "Traceback" not in (home / "server.log").read_text()


def test_what_users_send_is_not_in_the_log(home: Path) -> None:
    with process("runs/recurrent", folder=home) as (_, client):
        client.texts(["a secret"])
        client.post("/v1/predict", {"inputs": ["a secret" * 1000]})
    log = (home / "server.log").read_text()
    assert "POST /v1/predict 200" in log
    assert "secret" not in log


def test_a_key_comes_from_a_file_or_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "keys").write_text("one\n\ntwo\n")
    with process("runs/recurrent", "--api-key-file", "keys", folder=home) as (_, client):
        assert [client.get("/v1/models", **{"x-api-key": key}).status for key in ("one", "two", "")] == [
            200,
            200,
            401,
        ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["runs/nothing"], "runs/nothing"),
        (["runs/recurrent", "runs/recurrent"], "Two models are called 'recurrent'"),
        (["runs/recurrent", "--limit", "baem=3"], "Did you mean 'beam'?"),
        (["runs/recurrent", "--api-key-file", "empty"], "has no key"),
        (["runs/recurrent", "--api-key-file", "latin"], "is no text in UTF-8"),
        (["runs/nothing", "--workers", "2"], "runs/nothing"),
    ],
)
def test_what_can_not_be_served_is_one_sentence(home: Path, arguments: list[str], said: str) -> None:
    (home / "empty").write_text("\n")
    (home / "latin").write_bytes(b"schl\xfcssel\n")
    assert said in sentence(regard("serve", *arguments, "--port", "0", folder=home, code=2))


def test_workers_without_their_device_are_not_begun(home: Path) -> None:
    done = regard(
        "serve", "runs/recurrent", "--workers", "2", "--device", "cuda:9", "--port", "0", folder=home, code=2
    )
    assert "There is no device 'cuda:9' here" in sentence(done)


def test_workers_that_cannot_begin_end_the_server(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "runs" / "recurrent", tmp_path / "broken")
    weights = next((tmp_path / "broken").rglob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-100])
    done = regard("serve", str(tmp_path / "broken"), "--workers", "2", "--port", "0", folder=home, code=2)
    assert b"Traceback" not in done.stderr
    assert b"Error: " in done.stderr


def test_an_address_that_is_taken_is_one_sentence(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = regard("serve", "runs/recurrent", "--port", port, folder=home, code=2)
    assert f"Can't listen on 127.0.0.1, port {port}" in sentence(done)
