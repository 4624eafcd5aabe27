"""Run by test_together.py: `regard`, of which the second process is killed at a step, or is asked to stop after it."""

import os
import signal
import sys
from collections.abc import Iterator

from regard.cli import main
from regard.training import Event, Loop

HOW, AT = {"killed": signal.SIGKILL, "stopped": signal.SIGTERM}, 10
step = Loop._step


def ending(loop: Loop) -> Iterator[Event]:
    if loop.ranks.number == 1 and loop.state.step == AT:
        os.kill(os.getpid(), HOW[word])
    yield from step(loop)


if __name__ == "__main__":
    word = sys.argv.pop(1)
    Loop._step = ending  # type: ignore[method-assign]
    main()
