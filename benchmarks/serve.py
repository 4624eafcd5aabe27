"""A server under load: batching, ten times too much, slow sockets, clients that hang up.

python benchmarks/serve.py                        # minutes; with a Transformer that has learned nothing
python benchmarks/serve.py runs/multi30k-en-de --seconds 10 --overload 10 --cancellations 500
"""

import argparse
import asyncio
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import torch
from safetensors.torch import save_file

from regard import build
from regard.config import load_config
from regard.core.weights import weights_of
from regard.run import Run
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS

ANSWERS = (200, 429, 503)
PATIENCE = 60.0  # seconds for one answer
WORDS = [
    "the",
    "a",
    "small",
    "red",
    "old",
    "happy",
    "dog",
    "cat",
    "man",
    "child",
    "bird",
    "sees",
    "follows",
    "finds",
    "paints",
    "two",
    "three",
    "of",
    "in",
    "with",
]


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def untrained(folder: Path, width: int, layers: int) -> Path:
    """A Transformer of this size that has learned nothing and talks until it is cut off after 20 words."""
    sides = [f"model.{side}" for side in ("encoder", "decoder")]
    sizes = {"width": width, "layers": layers, "heads": 4, "feed_forward": 4 * width}
    changes = [f"{side}.{name}={value}" for side in sides for name, value in sizes.items()]
    config = load_config(
        "dates", ["model.preset=transformer_tiny", *changes, "search.max_length=20", "text.source.kind=words"]
    )
    torch.manual_seed(1)
    tokenizer = TOKENIZERS["words"]([" ".join(WORDS), *(f"w{n}" for n in range(4000))], vocabulary=8000)
    codec = TextCodec(tokenizer, tokenizer, build.limits(config), build.task(config).view)
    sizes = codec.sizes
    model = build.model(config, sizes)
    run = Run(folder)
    run.model.folder.mkdir(parents=True)
    codec.save(run.model.folder)
    run.model.describe(config, vocabulary=sizes, data={})
    save_file(weights_of(model), run.model.weights_path)
    return folder


@dataclass
class Tally:
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)  # of answers with status 200
    lost: int = 0  # requests without any answer

    def told(self) -> str:
        statuses = ", ".join(f"{count:,} x {status}" for status, count in sorted(self.statuses.items()))
        return f"{statuses or 'nothing'}; {self.lost} lost; {_latency(self.seconds)}"


def _latency(seconds: Sequence[float]) -> str:
    if not seconds:
        return "no latency"
    ranked = sorted(seconds)
    return (
        f"median {1000 * median(ranked):.0f} ms, 95 % {1000 * ranked[int(0.95 * (len(ranked) - 1))]:.0f} ms"
    )


class Line(asyncio.Protocol):
    """A connection that costs little: what it takes of a machine is not there for the server."""

    ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.came = b""
        self.answer: asyncio.Future[int] | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(exc or ConnectionError("closed"))

    def data_received(self, data: bytes) -> None:
        self.came += data
        head, end, body = self.came.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if end and self.answer is not None and len(body) >= (int(length[1]) if length else 0):
            self.ended = b"connection: close" in head
            self.answer.set_result(int(head.split(None, 2)[1]))
            self.came = b""

    async def ask(self, message: bytes) -> int:
        """The status of what comes back."""
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(message)
        return await self.answer


@dataclass
class Asker:
    """Connections to the server, and what is asked on them."""

    port: int
    beam: int
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    def __post_init__(self) -> None:
        self.prepared = [self.message() for _ in range(1000)]

    def message(self, path: str = "/v1/predict") -> bytes:
        text = " ".join(self.chance.choices(WORDS, k=self.chance.randint(5, 15)))
        body = json.dumps({"inputs": [text], "beam": self.beam}).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def get(self, path: str) -> str:
        reader, writer = await self.open()
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        found = (await asyncio.wait_for(reader.read(), PATIENCE)).decode()
        writer.close()
        return found

    async def number(self, name: str) -> float:
        found = re.findall(
            rf"^regard_{name}(?:{{.*}})? (\S+)$", await self.get("/metrics"), flags=re.MULTILINE
        )
        return sum(map(float, found))

    async def client(self, tally: Tally, until: float, pause: float = 0.0) -> None:
        """Asks again and again on one connection; with a pause, at that pace."""
        line: Line | None = None
        due = time.monotonic() + self.chance.random() * pause
        while time.monotonic() < until:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due = max(due + pause, time.monotonic() - pause)
            began = time.monotonic()
            try:
                if line is None or line.ended:
                    connecting = asyncio.get_running_loop().create_connection(Line, "127.0.0.1", self.port)
                    _, line = await connecting
                async with asyncio.timeout(PATIENCE):
                    status = await line.ask(self.chance.choice(self.prepared))
            except (OSError, TimeoutError):
                tally.lost += 1
                line = None
                continue
            tally.statuses[status] += 1
            if status == 200:
                tally.seconds.append(time.monotonic() - began)
        if line is not None:
            line.transport.close()

    async def clients(self, count: int, seconds: float, pause: float = 0.0) -> tuple[Tally, float]:
        """What became of it, and answers a second."""
        tally, began = Tally(), time.monotonic()
        await asyncio.gather(*(self.client(tally, began + seconds, pause) for _ in range(count)))
        return tally, tally.statuses[200] / (time.monotonic() - began)


@asynccontextmanager
async def server(run: Path, port: int, limits: Sequence[str]) -> AsyncIterator[subprocess.Popen[bytes]]:
    settings = [word for limit in limits for word in ("--limit", limit)]
    command = [sys.executable, "-m", "regard", "serve", str(run), "--port", str(port), "--log", "nothing"]
    running = subprocess.Popen([*command, *settings], stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):
            with suppress(OSError):
                if " 200 " in await Asker(port, 1).get("/readyz"):
                    break
            assert running.poll() is None, "the server ended"
            await asyncio.sleep(0.1)
        yield running
    finally:
        running.terminate()
        running.wait(60)


async def batching(asker: Asker, options: argparse.Namespace) -> float:
    await asker.clients(4, min(2, options.seconds))  # warm
    one, alone = await asker.clients(1, options.seconds)
    tally, together = await asker.clients(32, options.seconds)
    say(f"one client        {alone:8.1f} answers a second; {one.told()}")
    assert one.statuses[200], "nothing was answered: give it more --seconds"
    say(
        f"32 clients        {together:8.1f} answers a second, {together / alone:.1f} times as many; {tally.told()}"
    )
    many, most = await asker.clients(128, options.seconds)
    say(f"128 clients       {most:8.1f} answers a second; {many.told()}")
    return max(together, most)


async def overload(asker: Asker, options: argparse.Namespace, peak: float) -> None:
    before = await asker.number("resident_bytes")
    clients = options.clients
    tally, goodput = await asker.clients(clients, options.overload, clients / (10 * peak))
    offered = (sum(tally.statuses.values()) + tally.lost) / options.overload
    began = time.monotonic()
    while True:
        one, _ = await asker.clients(1, 0.001)
        if one.statuses[200]:
            break
    recovery = time.monotonic() - began
    after = await asker.number("resident_bytes")
    # A machine may be slower by now, whatever is asked of it.
    _, still = await asker.clients(128, options.seconds)
    peak = (peak + still) / 2
    answered = set(tally.statuses) <= set(ANSWERS) and not tally.lost
    say(
        f"overload          {offered:8.1f} requests a second offered for {options.overload:g} s: {tally.told()}"
    )
    say(f"                  every request answered with 200, 429 or 503: {'yes' if answered else 'NO'}")
    share = 100 * goodput / peak
    say(
        f"                  goodput {goodput:.1f} a second, {share:.0f} % of the peak before and after, {peak:.1f}"
    )
    say(
        f"                  recovered after {recovery:.2f} s; memory {_mib(before)} before, {_mib(after)} after"
    )


async def slow_sockets(asker: Asker, options: argparse.Namespace) -> None:
    calm, _ = await asker.clients(4, options.seconds)
    lines = [await asker.open() for _ in range(options.sockets)]

    async def drip(writer: asyncio.StreamWriter, number: int) -> None:
        with suppress(OSError):
            whole = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
            writer.write(whole if number % 2 else whole[:30])
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.5)

    dripping = [asyncio.ensure_future(drip(writer, number)) for number, (_, writer) in enumerate(lines)]
    beside, _ = await asker.clients(4, options.seconds)
    for one, (_, writer) in zip(dripping, lines, strict=True):
        one.cancel()
        writer.close()
    say(f"without others    {calm.told()}")
    say(f"{options.sockets} slow sockets  {beside.told()}")


async def cancellations(asker: Asker, options: argparse.Namespace) -> None:
    memory, begun = [await asker.number("resident_bytes")], 0

    async def hang_up(end: int) -> None:
        nonlocal begun
        while begun < end:
            begun += 1
            with suppress(OSError):
                _, writer = await asker.open()
                writer.write(asker.message(asker.chance.choice(["/v1/predict", "/v1/stream"])))
                await writer.drain()
                await asyncio.sleep(asker.chance.random() * 0.1)
                writer.transport.abort() if asker.chance.random() < 0.5 else writer.close()

    for quarter in range(1, 5):
        await asyncio.gather(*(hang_up(options.cancellations * quarter // 4) for _ in range(32)))
        memory.append(await asker.number("resident_bytes"))
    began = time.monotonic()
    while await asker.number("requests_under_way") and time.monotonic() - began < PATIENCE:
        await asyncio.sleep(0.1)
    left = [await asker.number(name) for name in ("requests_under_way", "inputs_waiting", "connections")]
    say(
        f"cancellations     {begun:,}: {left[0]:.0f} requests, {left[1]:.0f} inputs, {left[2] - 1:.0f} connections "
        f"left after {time.monotonic() - began:.1f} s; memory, and after each quarter: {', '.join(map(_mib, memory))}"
    )


def _mib(amount: float) -> str:
    return f"{amount / 2**20:.0f} MiB"


async def main(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = options.run or untrained(Path(folder) / "transformer", options.width, options.layers)
        model = options.run or f"a Transformer of width {options.width}, {options.layers} layers"
        threads = os.environ.get("OMP_NUM_THREADS", os.cpu_count())
        say(f"{model}, beam {options.beam}, {threads} threads")
        limits = ["deadline_seconds=20", *options.limit]
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        async with server(run, port, limits):
            asker = Asker(port, options.beam)
            peak = await batching(asker, options)
            await overload(asker, options, peak)
            await slow_sockets(asker, options)
            await cancellations(asker, options)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "run", nargs="?", type=Path, help="a run to serve, instead of an untrained Transformer"
    )
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20, help="for each rate that is measured")
    parser.add_argument("--overload", type=float, default=60, help="seconds at ten times the peak")
    parser.add_argument("--clients", type=int, default=400, help="connections that offer it")
    parser.add_argument("--sockets", type=int, default=200)
    parser.add_argument("--cancellations", type=int, default=10_000)
    parser.add_argument("--limit", action="append", default=[], help="of the server, such as batch=64")
    asyncio.run(main(parser.parse_args()))
