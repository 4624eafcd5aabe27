"""Servers for tests: runs that have learned nothing, a server in a thread or in a process, and who asks it."""

import http.client
import json
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import uvicorn
from commands import command, environment
from safetensors.torch import save_file

from regard import build
from regard.build import codecs
from regard.config import Config, load_config
from regard.core.weights import weights_of
from regard.run import Run
from regard.server.app import application
from regard.server.desk import Desk
from regard.server.served import Models, load_models
from regard.server.serving import configuration
from regard.server.settings import Limits, ServerSettings
from regard.tasks.captions import PictureCodec
from regard.tasks.codec import Codec
from regard.tasks.scaling import Scaling
from regard.tasks.series import SeriesCodec
from regard.tasks.shapes import make_scenes
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS

LETTERS = "abcdefghijklmnopqrstuvwxyzäöüß ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,-"
SMALL = (
    "text.source.kind=characters",
    "text.target.kind=characters",
    "data.max_source=60",
    "data.max_target=40",
    "search.max_length=12",
)
RECURRENT = ("model.embedding=8", "model.encoder.width=8", "model.decoder.width=16")
TRANSFORMER = (
    "model.preset=transformer_tiny",
    *(f"model.{side}.{size}" for side in ("encoder", "decoder") for size in ("width=16", "layers=2")),
    *(f"model.{side}.{size}" for side in ("encoder", "decoder") for size in ("heads=2", "feed_forward=32")),
    "model.attention.heads=2",
)
TRANSLATION = "task={name='translation', source_language='en', target_language='de'}"
MANY = (
    "task={name='multilingual', corpora=[{source_language='en', target_language='de', train='a.tsv'}, "
    "{source_language='en', target_language='fr', train='b.tsv'}]}"
)


PICTURES = (
    *("model.embedding=16", "model.encoder.size=32", "model.encoder.stages=3", "model.encoder.width=16"),
    *("model.decoder.width=16", "search.max_length=8", "task.size=32"),
)
SERIES = (
    *("task.pairs=40", "data.validation_size=4", "data.test_size=4", "model.points.kind=gaussian"),
    *("model.embedding=8", "model.encoder.width=8", "model.decoder.width=8", "model.context.encoder.width=8"),
)


def untrained(folder: Path, *changes: str, seed: int = 0) -> Path:
    """A run whose model has learned nothing, but answers every source with something else."""
    config = load_config("dates", [*SMALL, *changes])
    tokenizer = TOKENIZERS["characters"]([LETTERS], vocabulary=200)
    codec = TextCodec(
        tokenizer, tokenizer, build.limits(config), build.task(config).view, languages=_languages(config)
    )
    return _written(folder, config, codec, seed)


def untrained_captions(folder: Path, *changes: str, seed: int = 0) -> Path:
    """The same of pictures: 4 × 4 cells of 32 pixels a side."""
    config = load_config("shapes", [*PICTURES, *changes])
    tokenizer = TOKENIZERS["words"](
        [scene.caption for scene in make_scenes(60, size=32, seed=1)], vocabulary=60
    )
    codec = PictureCodec(codecs.sight(config), tokenizer, config.data.max_target)
    return _written(folder, config, codec, seed)


def untrained_forecast(folder: Path, *changes: str, seed: int = 0) -> Path:
    """The same of points, with a context beside them unless `changes` say otherwise."""
    config = load_config("arms", [*SERIES, *changes])
    task = build.task(config)
    scaling = Scaling.learn(task.examples().train(), config.task.measure)  # type: ignore[union-attr]
    codec = SeriesCodec(scaling, build.limits(config), task.view, task.seen)  # type: ignore[attr-defined]
    return _written(folder, config, codec, seed, lively=1.2)


def _written(folder: Path, config: Config, codec: Codec, seed: int, lively: float = 2.5) -> Path:
    torch.manual_seed(seed)
    sizes = codec.sizes
    model = build.model(config, sizes)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(lively)
    run = Run(folder)
    run.model.folder.mkdir(parents=True)
    codec.save(run.model.folder)
    run.model.describe(config, vocabulary=sizes, data={})
    save_file(weights_of(model), run.model.weights_path)
    run.config_path.write_text(config.to_toml())
    return folder


def _languages(config: Config) -> tuple[str, ...]:
    return ("de", "en", "fr") if config.task.name == "multilingual" else ()


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """Asks a server on this machine."""

    port: int

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(method, path, body, dict(headers or {}))
            found = connection.getresponse()
            return Reply(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, content: Any, **headers: str) -> Reply:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.ask("POST", path, body, {"content-type": "application/json", **headers})

    def texts(self, inputs: Sequence[Any], **wishes: Any) -> list[str]:
        reply = self.post("/v1/predict", {"inputs": inputs, **wishes})
        assert reply.status == 200, reply.body
        return [one["answers"][0]["text"] for one in reply.json["predictions"]]

    def events(self, content: Any) -> list[tuple[str, Any]]:
        """What a stream tells, from its beginning to its end."""
        reply = self.post("/v1/stream", content)
        assert reply.status == 200, reply.body
        assert reply.headers["content-type"].startswith("text/event-stream")
        blocks = [block for block in reply.body.decode().split("\n\n") if block]
        found = [re.fullmatch(r"event: (\w+)\ndata: (.*)", block) for block in blocks]
        assert all(found), reply.body
        return [(one[1], json.loads(one[2])) for one in found if one]

    def count(self, name: str) -> float:
        """A number of /metrics, over all its labels."""
        lines = self.get("/metrics").body.decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if re.match(rf"regard_{name}[{{ ]", line))

    def socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)


@dataclass
class Here(Client):
    """A server in a thread of this process, whose parts can be looked at."""

    models: Models
    server: uvicorn.Server

    @property
    def desk(self) -> Desk:
        desk: Desk = self.server.lifespan.state["desk"]
        return desk


@contextmanager
def here(*runs: Path | str, limits: Mapping[str, Any] | None = None, **settings: Any) -> Iterator[Here]:
    chosen = ServerSettings(
        runs=tuple(map(str, runs)), limits=Limits(**(limits or {})), **{"log": "nothing", **settings}
    )
    models = load_models(chosen.runs, "cpu", engine=chosen.engine, compute_type=chosen.compute_type)
    server = uvicorn.Server(configuration(chosen, application(models, chosen)))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        until(lambda: server.started)
        yield Here(listener.getsockname()[1], models, server)
    finally:
        server.should_exit = True
        thread.join(30)


@contextmanager
def process(*arguments: str | Path, folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], Client]]:
    """`regard serve` as a person starts it."""
    with (folder / "server.log").open("wb") as log:
        running = subprocess.Popen(
            command("serve", *arguments, "--port", "0"), cwd=folder, stderr=log, env=environment()
        )
    try:
        said = (folder / "server.log").read_text
        until(lambda: running.poll() is not None or "Listening on" in said())
        found = re.search(r"http://127\.0\.0\.1:(\d+)", said())
        assert found, said()
        client = Client(int(found[1]))
        until(lambda: _ready(client))
        yield running, client
    finally:
        running.kill()
        running.wait()


def _ready(client: Client) -> bool:
    try:
        return client.get("/readyz").status == 200
    except OSError:
        return False


def until(holds: Any, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


class Gate:
    """Holds a model before every step of its decoder until it is let through."""

    def __init__(self, models: Models, name: str):
        self.steps = 0
        self.open = threading.Event()
        self._passes = threading.Semaphore(0)
        decoder = models.by_name[name].predictor.models[0].decoder
        self._step = decoder.step
        decoder.step = self._held  # type: ignore[method-assign]

    def _held(self, *arguments: Any) -> Any:
        self.steps += 1
        while not self.open.is_set() and not self._passes.acquire(timeout=0.01):
            pass
        return self._step(*arguments)

    def let_through(self, steps: int = 1) -> None:
        for _ in range(steps):
            self._passes.release()
