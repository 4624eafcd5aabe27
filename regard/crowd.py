"""Several processes that answer with one model: for many short sources, better than several threads in one.

A step of a short answer is over before a second thread has begun to help. Processes with one thread each wait for
nobody. What a source is answered does not depend on what stands beside it, so the answers are those of one process.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Self

from regard.core.cores import Workers, check_workers
from regard.core.prediction import Prediction, Request

SOURCES = 64  # that a process is sent at a time: enough for a full batch, few enough to share them out evenly


@dataclass
class Answering:
    """What each process does. It loads the model when it is first asked."""

    paths: tuple[str | Path, ...]
    how: dict[str, Any]  # it is loaded
    _predictor: Any = field(default=None, repr=False)

    def __call__(self, asked: tuple[Sequence[str | Request], dict[str, Any]]) -> list[Prediction]:
        sources, options = asked
        answers: list[Prediction] = self._loaded().predict(sources, **options)
        return answers

    def _loaded(self) -> Any:
        if self._predictor is None:
            from regard.core.allocation import keep_freed_memory

            keep_freed_memory()
            from regard.predictor import load

            self._predictor = load(*self.paths, **self.how)
        return self._predictor


class Crowd:
    """So many workers, each with the model of the paths; `how` is what `regard.load` takes besides.

    with Crowd("runs/x", workers=4, compute_type="int8") as crowd:
        for answer in crowd.stream(lines, attention="none", beam=5):
            ...
    """

    def __init__(self, *paths: str | Path, workers: int, **how: Any):
        check_workers(workers)
        self._workers = Workers(Answering(paths, how), workers)

    def stream(
        self, inputs: Iterable[str | Request], *, sources: int = SOURCES, **options: Any
    ) -> Iterator[Prediction]:
        """Predictions in the order of the inputs, which are read some ahead and never all at once.

        The options are those of `Predictor.predict`.
        """
        remaining = iter(inputs)
        blocks = iter(lambda: list(islice(remaining, sources)), [])
        for answers in self._workers.map((block, options) for block in blocks):
            yield from answers

    def close(self) -> None:
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
