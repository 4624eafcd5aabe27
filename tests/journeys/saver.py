"""Run by test_kill.py: forks a process that saves again and again, kills it by chance, looks.

python saver.py FOLDER KILLS
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

from regard.training.checkpoints import Checkpoints
from regard.training.state import TrainingState


def save(folder: Path, step: int) -> None:
    weights = {"weight": torch.full((200, 200), float(step))}
    Checkpoints(folder).save(weights, {"0.step": torch.tensor(float(step))}, TrainingState(step=step))


def save_forever(folder: Path, step: int) -> None:
    while True:
        step += 1
        save(folder, step)


def main(folder: Path, kills: int) -> None:
    torch.set_num_threads(1)
    chance = random.Random(0)
    halves = 0
    started = time.perf_counter()
    for reached in range(1, 6):
        save(folder, reached)
    pace = (time.perf_counter() - started) / reached  # disks differ, and so does what else they have to do
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            save_forever(folder, reached)
        time.sleep(pace * (0.5 + 3 * chance.random()))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        halves += any(path.name.startswith(".writing") for path in folder.iterdir()) if folder.exists() else 0
        newest = Checkpoints(folder).newest()
        if newest is None:
            continue
        assert newest.state.step >= reached, "a saved checkpoint was lost"
        reached = newest.state.step
        assert torch.equal(newest.model["weight"], torch.full((200, 200), float(reached)))
    sys.stdout.write(f"{reached} {halves}\n")


main(Path(sys.argv[1]), int(sys.argv[2]))
