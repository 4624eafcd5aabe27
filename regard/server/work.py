"""The model at work: inputs wait in line, those that are asked the same way share a batch, a thread answers them."""

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regard.core.errors import UserError
from regard.core.prediction import Prediction, Request
from regard.search import Finder, Watch
from regard.server.problems import Problem, busy, place_of
from regard.server.served import Served
from regard.server.settings import Limits
from regard.server.tallies import Tallies

log = logging.getLogger("regard.server")

LONGEST_WAIT = 60  # seconds that anybody is told to wait before the next try


@dataclass(frozen=True)
class Way:
    """How a model is asked. What is asked the same way can share a batch."""

    model: Served
    plan: Finder
    attention: str


class Job:
    """One input of a request: made and awaited on the event loop, answered in the model's thread."""

    def __init__(self, way: Way, request: Request, *, deadline: float, listening: bool = False):
        self.way = way
        self.request = request
        self.deadline = deadline
        self.since = time.monotonic()
        self.begun = False
        self.left = False
        self.said: Sequence[int] = ()  # the best hypothesis so far, where somebody listens
        self.news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Prediction] = self._loop.create_future()
        self.watch = Watch(self.wanted, self._hear if listening else None)

    def wanted(self) -> bool:
        return not self.left and time.monotonic() < self.deadline

    def leave(self) -> None:
        """Nobody waits any more: the search stops before its next step."""
        self.left = True
        if not self.answer.cancel() and not self.answer.cancelled():
            self.answer.exception()  # it has been seen, as far as asyncio is concerned

    def settle(self, answer: Prediction | Problem) -> None:
        _later(self._loop, self._settle, answer)

    def _settle(self, answer: Prediction | Problem) -> None:
        if not self.answer.done():
            if isinstance(answer, Problem):
                self.answer.set_exception(answer)
            else:
                self.answer.set_result(answer)
        self.news.set()

    def _hear(self, pieces: Sequence[int]) -> None:
        self.said = pieces
        _later(self._loop, self.news.set)


def _later(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *arguments: object) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call, *arguments)


class Line:
    """Inputs that wait for the model, the oldest first."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self.rate = 1.0  # inputs answered in a second, of late
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, jobs: Sequence[Job]) -> None:
        with self._changed:
            if len(self._waiting) + len(jobs) > self.limits.queue and self._waiting:
                raise busy("Too many inputs wait already. Try again later.", seconds=self.patience())
            self._waiting.extend(jobs)
            self._changed.notify()

    def patience(self) -> int:
        """Seconds until those who wait now are answered, roughly."""
        return max(1, min(LONGEST_WAIT, math.ceil(len(self._waiting) / self.rate)))

    def forget(self, jobs: Iterable[Job]) -> None:
        gone = set(jobs)
        with self._changed:
            if any(not job.begun for job in gone):
                self._waiting = deque(job for job in self._waiting if job not in gone)

    def take(self) -> list[Job]:
        """The oldest job and others that are asked the same way; waits for some, and a little for more of them."""
        with self._changed:
            while True:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return []
                first = self._waiting[0]
                patience = first.since + self.limits.batch_seconds - time.monotonic()
                alike = [job for job in self._waiting if job.way == first.way][: self.limits.batch]
                if len(alike) < self.limits.batch and patience > 0 and not self._closed:
                    self._changed.wait(patience)
                    continue
                taken = set(alike)
                self._waiting = deque(job for job in self._waiting if job not in taken)
                for job in alike:
                    job.begun = True
                return alike

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()


class Worker(threading.Thread):
    """Answers what waits in line until it is closed and empty."""

    def __init__(self, line: Line, tallies: Tallies):
        super().__init__(name="model", daemon=True)
        self.line = line
        self.tallies = tallies

    def run(self) -> None:
        while jobs := self.line.take():
            began = time.monotonic()
            if wanted := [job for job in jobs if job.wanted()]:
                answers = self._answers(wanted)
                self._note(wanted, time.monotonic() - began)
                for job, answer in zip(wanted, answers, strict=True):
                    if job.wanted():  # or it may have been given up
                        job.settle(answer)

    def _answers(self, jobs: Sequence[Job]) -> Sequence[Prediction | Problem]:
        way = jobs[0].way
        try:
            return way.model.predictor.answer(
                [job.request for job in jobs],
                way.plan,
                attention=way.attention,
                watches=[job.watch for job in jobs],
            )
        except Exception as error:
            if len(jobs) > 1:  # only the one that is to blame has no answer
                return [answer for job in jobs for answer in self._answers([job])]
            return [_problem(error)]

    def _note(self, jobs: Sequence[Job], seconds: float) -> None:
        self.line.rate = 0.8 * self.line.rate + 0.2 * len(jobs) / max(seconds, 1e-3)
        self.tallies.add("batches_total", 1)
        self.tallies.add("inputs_total", len(jobs), model=jobs[0].way.model.name)
        self.tallies.add("model_seconds_total", seconds)


def _problem(error: Exception) -> Problem:
    if isinstance(error, UserError):
        return Problem(422, str(error))
    log.error("The model failed with %s.", place_of(error))
    return Problem(500, "The model failed on this input. The server goes on.")
