"""Python programs in processes of their own, forked from one that has imported `warm`: starting costs a tenth."""

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["warm"])


class Started:
    """What `subprocess.Popen` is for a program with its input given and its output captured."""

    def __init__(
        self, words: Sequence[str], *, folder: Path, environment: dict[str, str], stdin: bytes = b""
    ):
        self.words = list(words)
        self._place = tempfile.TemporaryDirectory()
        self._files = [Path(self._place.name, name) for name in ("stdin", "stdout", "stderr")]
        self._files[0].write_bytes(stdin)
        self._process = SERVER.Process(target=_run, args=(self.words, folder, self._files, environment))
        here = os.pathsep.join([str(Path(__file__).parent), environment.get("PYTHONPATH", "")])
        with mock.patch.dict(
            os.environ, {**environment, "PYTHONPATH": here}
        ):  # the first start begins the server
            self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        if self.poll() is None:
            self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """What it has said on stdout and stderr, once it has ended."""
        self._process.join(timeout)
        if self.poll() is None:
            self.kill()
            raise subprocess.TimeoutExpired(self.words, timeout or 0)
        out, err = (path.read_bytes() if path.exists() else b"" for path in self._files[1:])
        self._place.cleanup()
        return out, err


def run(
    words: Sequence[str], *, folder: Path, environment: dict[str, str], timeout: float, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """As `subprocess.run` of `python` and these words, with its output captured."""
    started = Started(words, folder=folder, stdin=stdin, environment=environment)
    out, err = started.communicate(timeout)
    assert started.returncode is not None
    return subprocess.CompletedProcess(started.words, started.returncode, out, err)


def _run(words: list[str], folder: Path, files: list[Path], environment: dict[str, str]) -> None:
    for number, path in enumerate(files):
        os.dup2(os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT), number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False) for number in range(3)
    )
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    warnings.simplefilter("error")
    assert "warm" in sys.modules, "the server goes on without what it can not import"
    match words:
        case ["-m", module, *arguments]:
            sys.argv = [module, *arguments]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", program, *arguments]:
            sys.argv = ["-c", *arguments]
            exec(program, {"__name__": "__main__"})
        case [script, *arguments]:
            sys.argv = [script, *arguments]
            sys.path.insert(0, str(Path(script).parent))
            runpy.run_path(script, run_name="__main__")
