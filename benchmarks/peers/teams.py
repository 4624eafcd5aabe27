"""Systems, each in a process of its own, that are asked in turn."""

import json
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import environments
from worker import load

HERE = Path(__file__).parent


class FailureError(Exception):
    """Why a system did not do what it was asked."""


@dataclass
class System:
    """One system and its process, which is started when it is first needed."""

    name: str
    data: Path
    threads: int
    log: IO[str]
    process: subprocess.Popen[str] | None = None
    reason: str | None = None  # why it can't be asked any more
    seconds: float = 0.0  # that its imports took
    is_open: bool = False
    facts: Any = field(init=False)

    def __post_init__(self) -> None:
        self.facts = load(HERE / "systems" / f"{self.name}.py")

    def again(self) -> "System":
        """The same in another process."""
        return System(self.name, self.data, self.threads, self.log, reason=self.reason)

    @property
    def title(self) -> str:
        return str(self.facts.TITLE)

    def begin(self) -> None:
        """A fresh child, for one model."""
        if self.reason:
            raise FailureError(self.reason)
        if self.process is None:
            self._start()
        self.end()
        self._send({"do": "open"})
        self._answer()
        self.is_open = True

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        self._send({"do": do, **arguments})
        return self._answer()

    def end(self) -> None:
        if self.is_open:
            self.is_open = False
            self._send({"do": "close"})
            self._answer()

    def stop(self) -> None:
        if self.process is not None:
            with suppress(BrokenPipeError):
                self.process.stdin.close()  # type: ignore[union-attr]
            self.process.wait()

    def _start(self) -> None:
        if not environments.is_ready(self.facts.ENVIRONMENT):
            raise FailureError("its environment is not installed")
        interpreter = environments.python(self.facts.ENVIRONMENT)
        threads = str(self.threads)
        self.process = subprocess.Popen(
            [
                str(interpreter),
                str(HERE / "worker.py"),
                str(HERE / "systems" / f"{self.name}.py"),
                str(self.data),
                threads,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env={
                **os.environ,
                "OMP_NUM_THREADS": threads,
                "REGARD_CORES": threads,
                "REGARD_BENCH_FOLDER": str(self.data.parent),
                "TOKENIZERS_PARALLELISM": "false",
                "HF_HUB_OFFLINE": "1",
            },
        )
        try:
            self.seconds = self._answer()["seconds"]
        except FailureError as failure:
            self.reason = str(failure)
            raise

    def _send(self, command: dict[str, Any]) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise FailureError("its process ended") from None

    def _answer(self) -> dict[str, Any]:
        assert self.process is not None
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise FailureError("its process ended")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise FailureError(answer["error"])
        return answer
