"""Trains and scores what is missing: a process for each run, so many of them at a time."""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from regard.comparing.conditions import Conditions, note_conditions
from regard.comparing.lineups import Candidate
from regard.comparing.worker import FAILED
from regard.core.cores import VARIABLE as CORES
from regard.core.cores import cores, threaded
from regard.training.recording import newest_metrics

log = logging.getLogger(__name__)

LOG = "compare.log"  # in the run: what its process wrote
_PAUSE = 0.1  # seconds between two looks at the processes
_BETWEEN_LOOKS = 2.0  # seconds between two looks at what they recorded


@dataclass(frozen=True)
class Started:
    candidate: Candidate


@dataclass(frozen=True)
class Moved:
    candidate: Candidate
    line: dict[str, Any] = field(repr=False)  # the newest of its record


@dataclass(frozen=True)
class Finished:
    candidate: Candidate
    problem: str | None = None  # why it failed, if it did


@dataclass(frozen=True)
class Job:
    candidate: Candidate
    # To go on is to score what is trained, under whatever conditions, and to train only if that is lost.
    kind: Literal["train", "go on", "score"]


Happening = Started | Moved | Finished


def check_cores(processes: int) -> None:
    if processes > cores():
        log.warning(
            "%d runs beside each other on %d cores: each has a part of one and takes the longer, and learns the less "
            "where minutes are counted.",
            processes,
            cores(),
        )


def threads_each(processes: int) -> int:
    """The cores shared among the processes, unless OMP_NUM_THREADS says how many each may have."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdigit() and int(given) > 0 else max(1, cores() // processes)


def work(
    jobs: Sequence[Job], *, processes: int, stop: Callable[[], int | None] = lambda: None
) -> Iterator[Happening]:
    """Tells of what happens. When `stop` says so, all processes are stopped, their runs saved."""
    conditions = Conditions(threads_each(processes), processes)
    waiting = list(jobs)
    running: list[tuple[Job, subprocess.Popen[bytes]]] = []
    looked = time.monotonic()
    try:
        while (waiting or running) and stop() is None:
            while waiting and len(running) < processes:
                job = waiting.pop(0)
                running.append((job, _start(job, conditions)))
                yield Started(job.candidate)
            time.sleep(_PAUSE)
            for pair in [pair for pair in running if pair[1].poll() is not None]:
                running.remove(pair)
                yield Finished(pair[0].candidate, _problem(*pair))
            if time.monotonic() - looked >= _BETWEEN_LOOKS:
                looked = time.monotonic()
                for job, _ in running:
                    if line := _newest(job.candidate):
                        yield Moved(job.candidate, line)
    finally:
        for _, process in running:
            process.terminate()
        for _, process in running:
            process.wait()


def _start(job: Job, conditions: Conditions) -> "subprocess.Popen[bytes]":
    folder = job.candidate.folder
    folder.mkdir(parents=True, exist_ok=True)
    if job.kind == "train":
        note_conditions(folder, conditions)
    command = [sys.executable, "-m", "regard.comparing.worker", str(os.getpid()), str(folder), job.kind]
    with (folder / LOG).open("ab") as told:  # what was said before it was stopped stays
        told.write(f"--- {datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}, {job.kind}\n".encode())
        told.flush()
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=told, stderr=told, env=_environment(conditions)
        )
    assert process.stdin is not None
    try:
        process.stdin.write(job.candidate.config.to_toml().encode())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it is over already, and its exit code will say why
    return process


def _environment(conditions: Conditions) -> dict[str, str]:
    """Of the cores that there are a run has its share, to read its data too."""
    return {**threaded(conditions.threads), CORES: str(max(1, cores() // conditions.processes))}


def _problem(job: Job, process: "subprocess.Popen[bytes]") -> str | None:
    if process.returncode == 0:
        return None
    path = job.candidate.folder / LOG
    said = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if process.returncode == FAILED and said:
        return said[-1].replace("--run", "--folder")  # a comparison's own option for it
    return f"its process ended with {process.returncode}; {path} says more"


def _newest(candidate: Candidate) -> dict[str, Any] | None:
    return newest_metrics(candidate.run.metrics_path, "train")
