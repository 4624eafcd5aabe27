"""A process that trains and scores one run: `python -m regard.comparing.worker PARENT FOLDER train|score|go on`.

The configuration comes in on stdin. Killed with its parent, it leaves a run that goes on; SIGTERM stops and saves it.
"""

import ctypes
import logging
import os
import signal
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PARENT_ENDS = 1  # PR_SET_PDEATHSIG of prctl, see sys/prctl.h
STOPPED = 3  # exit codes; 2 is an error for people, as everywhere
FAILED = 2


def main(parent: int, folder: Path, job: str) -> int:
    end_with(parent)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a Ctrl-C, a terminal that goes away: the parent's to answer
    from regard.core.errors import UserError

    try:
        with _told():
            return _work(folder, job)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return FAILED


def end_with(parent: int) -> None:
    """Nobody would wait for this process, and its run would be locked. Linux alone can promise it."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PARENT_ENDS, signal.SIGKILL)
        if os.getppid() != parent:  # it was over before it could be promised
            os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def _told() -> Iterator[None]:
    """What the library warns of goes to the log, of many alike a few and their number."""
    from regard.core.often import FirstFew

    handler, few = logging.StreamHandler(sys.stderr), FirstFew()
    handler.addFilter(few)
    logging.getLogger("regard").addHandler(handler)
    try:
        yield
    finally:
        for line in few.rest():
            sys.stderr.write(f"{line}\n")


def _work(folder: Path, job: str) -> int:
    from regard.config import parse_config
    from regard.core.allocation import keep_freed_memory
    from regard.core.errors import UserError
    from regard.evaluation import evaluate
    from regard.trainer import Trainer
    from regard.training import Ended, Noted

    keep_freed_memory()
    config = parse_config(tomllib.loads(sys.stdin.read()), origin=str(folder))
    if job != "score":
        asked: list[int] = []
        before = signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
        trainer = Trainer(config, folder, stop=lambda: "stopped" if asked else None)
        last = None
        for last in trainer.events():
            if isinstance(last, Noted):
                sys.stderr.write(f"{last.text}\n")
        signal.signal(signal.SIGTERM, before)
        if not isinstance(last, Ended) or not last.finished:
            return STOPPED
    device = config.training.device if job != "score" else "auto"  # it may come from another machine
    if evaluate(folder, device=device).saved is None:
        raise UserError("Its scores are not saved, and what is not saved cannot be compared.")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
