"""One system in a process of its own: it imports once, then does what it is told, line by line.

    python worker.py systems/plain_torch.py DATA THREADS

Every model is made in a child of its own, so that it finds the libraries imported and the memory fresh. Time and
memory are taken here, in the same way for everybody; only a system that can't be asked for a single step tells the time
of its steps itself.
"""

import importlib.util
import json
import mmap
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import contract

KILOBYTE = 1024
KILLED = "its process was killed: is there enough memory?"


def load(path: Path) -> Any:
    """A system's file, whatever it is called."""
    specification = importlib.util.spec_from_file_location(f"system_{path.stem}", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def peak() -> int:
    """The most memory that this process had at a time, in bytes; processes that it started have their own."""
    with Path("/proc/self/status").open() as status:
        own = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return KILOBYTE * own


class Child:
    """What a command is done by: names of methods are names of commands."""

    def __init__(self, system: Any, batches: list[contract.Batch], sources: list[list[int]], threads: int):
        self.system = system
        self.batches = batches
        self.sources = sources
        self.threads = threads

    def trainer(self, shape: str) -> dict[str, Any]:
        started = time.perf_counter()
        self._step: contract.Step = self.system.trainer(contract.SHAPES[shape])
        return {"seconds": time.perf_counter() - started}

    def train(self, numbers: list[int], share: float = 1.0) -> dict[str, Any]:
        """Steps on these batches, or on a share of the rows of each."""
        batches = [_part(self.batches[number], share) for number in numbers]
        started = time.perf_counter()
        told = [self._step(batch) for batch in batches]
        seconds = time.perf_counter() - started
        own = [one for one in told if isinstance(one, contract.Timed)]
        if own:
            seconds = sum(one.seconds for one in own)
        tokens = sum(batch.tokens for batch in batches)
        loss = own[-1].loss if own else told[-1]
        return {"seconds": seconds, "tokens": tokens, "loss": loss, "peak": peak()}

    def decoder(self, shape: str, way: str) -> dict[str, Any]:
        started = time.perf_counter()
        self._decode: contract.Decode = self.system.decoder(contract.SHAPES[shape], way)
        return {"seconds": time.perf_counter() - started}

    def decode(self, first: int, count: int, batch: int, beam: int, steps: int) -> dict[str, Any]:
        sources = self.sources[first : first + count]
        started = time.perf_counter()
        lengths = self._decode(sources, batch, beam, steps)
        seconds = time.perf_counter() - started
        if len(lengths) != count or any(not steps - 1 <= length <= steps for length in lengths):
            raise ValueError(f"asked for {count} answers of {steps} pieces, got {sorted(set(lengths))}")
        return {"seconds": seconds, "sentences": count, "peak": peak()}


def _part(batch: contract.Batch, share: float) -> contract.Batch:
    rows = max(1, round(share * len(batch.sources)))
    return contract.Batch(batch.sources[:rows], batch.targets[:rows])


def main() -> None:
    path, data, threads = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    asked = open(0, "rb", buffering=0)  # noqa: SIM115 -- unread lines belong to whoever reads next, parent or child

    def tell(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")

    try:
        started = time.perf_counter()
        system = load(path)
        system.start()
        tell({"seconds": time.perf_counter() - started})
    except BaseException as error:
        tell({"error": _told(error)})
        return
    batches, sources = contract.read(data)
    busy = mmap.mmap(-1, 1)  # shared: whether somebody waits for an answer of the child
    while line := asked.readline():
        if (do := json.loads(line)["do"]) != "open":  # for a child that was killed
            tell({} if do == "close" else {"error": KILLED})
            continue
        busy[0] = 1
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            if status and busy[0]:
                tell({"error": KILLED})
            continue
        _serve(Child(system, batches, sources, threads), asked, tell, busy)
        os._exit(0)


def _serve(child: Child, asked: Any, tell: Any, busy: mmap.mmap) -> None:
    busy[0] = 0
    tell({})
    while line := asked.readline():
        command = json.loads(line)
        busy[0] = command["do"] != "close"
        name = command.pop("do")
        if name == "close":
            break
        try:
            tell(getattr(child, name)(**command))
        except BaseException as error:
            traceback.print_exc()
            tell({"error": _told(error)})
        busy[0] = 0
    close = getattr(child.system, "close", None)
    if close is not None:
        close()
    tell({})


def _told(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}".splitlines()
    return text[0][:200]


if __name__ == "__main__":
    main()
