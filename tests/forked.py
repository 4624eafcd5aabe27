"""`regard` in a process of its own that is forked from one which has imported it: starting costs a tenth."""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["regard.cli", "regard.evaluation", "regard.predictor", "regard.trainer"])


def run(
    arguments: Sequence[str], *, folder: Path, stdin: bytes, environment: dict[str, str], timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """As `subprocess.run` of `python -m regard`, with its output captured."""
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place, name) for name in ("stdin", "stdout", "stderr")]
        files[0].write_bytes(stdin)
        process = SERVER.Process(target=_regard, args=(arguments, folder, files, environment))
        with mock.patch.dict(os.environ, environment):  # the first start hands it to the server
            process.start()
        process.join(timeout)
        if process.is_alive():
            process.kill()
            raise subprocess.TimeoutExpired(list(arguments), timeout)
        assert process.exitcode is not None
        return subprocess.CompletedProcess(
            list(arguments), process.exitcode, files[1].read_bytes(), files[2].read_bytes()
        )


def _regard(arguments: Sequence[str], folder: Path, files: list[Path], environment: dict[str, str]) -> None:
    for number, path in enumerate(files):
        os.dup2(os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT), number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False) for number in range(3)
    )
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["regard", *arguments]
    runpy.run_module("regard", run_name="__main__", alter_sys=True)
