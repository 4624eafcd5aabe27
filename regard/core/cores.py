"""One function over many things, on all cores."""

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import chain, islice
from queue import SimpleQueue
from typing import Generic, Self, TypeVar, cast

from regard.core.errors import UserError

Item = TypeVar("Item")
Result = TypeVar("Result")

VARIABLE = "REGARD_CORES"
_FEW = 8  # things that are sooner done than processes are started


def cores() -> int:
    """`REGARD_CORES`, or those that this process may use."""
    chosen = os.environ.get(VARIABLE)
    if chosen is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not (chosen.isascii() and chosen.isdigit() and 1 <= int(chosen) <= 4096):
        raise UserError(f"{VARIABLE} is {chosen!r}, but should be a number of cores, such as 4.")
    return int(chosen)


def check_workers(number: object) -> None:
    """A UserError for what is no number of workers; None is one."""
    if number is not None and (
        not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= 4096
    ):
        raise UserError(f"workers is {number!r}, but should be a number from 1 to 4096.")


def threaded(number: int) -> dict[str, str]:
    """The environment of a process that computes on so many threads, whatever this one was told."""
    return {**os.environ, "OMP_NUM_THREADS": str(number), "MKL_NUM_THREADS": str(number)}


def mapped(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`map` on all cores: the same results in the same order, a few of them ahead of who asks.

    What is mapped goes to other processes, so function, items and results must be such as can be sent.
    """
    number, waiting_items = cores(), iter(items)
    first = list(islice(waiting_items, _FEW))
    if number == 1 or len(first) < _FEW:
        yield from map(function, chain(first, waiting_items))
        return
    with Workers(function, number) as workers:
        yield from workers.map(chain(first, waiting_items))


class Workers(Generic[Item, Result]):
    """So many processes that have one function, each with one thread, until they are closed."""

    def __init__(self, function: Callable[[Item], Result], number: int):
        self.number = number
        self._processes = [_Worker(function) for _ in range(number)]
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._threads = ThreadPoolExecutor(number)

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items, a few of them ahead of who asks."""
        results: deque[Future[Result]] = deque()
        for item in items:
            results.append(self._threads.submit(self._done, item))
            if len(results) > 2 * self.number:
                yield results.popleft().result()
        while results:
            yield results.popleft().result()

    def _done(self, item: Item) -> Result:
        process = self._idle.get()
        try:
            return cast(Result, process(item))
        finally:
            self._idle.put(process)

    def close(self) -> None:
        for process in self._processes:
            process.end()
        self._threads.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Worker:
    """A process that is sent things and sends back what becomes of them. It ends when this one does."""

    def __init__(self, function: Callable[..., object]):
        environment = {
            **threaded(1),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "TOKENIZERS_PARALLELISM": "false",  # there is a worker for each core already
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "regard.core.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            process_group=0,  # a Ctrl-C is for the one that started it
        )
        self._send(function)

    def __call__(self, item: object) -> object:
        try:
            self._send(item)
            assert self.process.stdout is not None
            is_good, result = pickle.load(self.process.stdout)
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            raise UserError(
                "A process that this one had started was ended from outside. Is there enough memory? "
                f"Start again, perhaps on fewer cores: {VARIABLE}=1."
            ) from None
        if not is_good:
            raise result
        return result

    def _send(self, item: object) -> None:
        assert self.process.stdin is not None
        pickle.dump(item, self.process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        self.process.stdin.flush()

    def end(self) -> None:
        """Whatever it is doing: nobody waits for it any more."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
