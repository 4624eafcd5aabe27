"""What a run cost: read off its record, and measured where the record says nothing."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.comparing.lineups import Candidate
from regard.core.files import write_whole
from regard.core.prediction import Request
from regard.predictions import basis
from regard.predictor import Predictor
from regard.training import Spent
from regard.training.recording import read_metrics

SENTENCES = 200  # that decoding is timed with, at the most
LEAST_SECONDS = 1.0  # that it is timed for


@dataclass(frozen=True)
class Point:
    """A validation, and what had been spent until then."""

    spent: Spent
    values: Mapping[str, float]  # by metric, and the loss


@dataclass(frozen=True)
class Learning:
    """How a training went, by its record."""

    spent: Spent
    memory: int | None  # bytes, at the most
    points: Sequence[Point] = field(repr=False)

    @property
    def rate(self) -> float:
        """Target pieces in a second."""
        return self.spent.tokens / self.spent.seconds if self.spent.seconds else 0.0

    def reached(self, metric: str, quality: float, *, higher_is_better: bool) -> Spent | None:
        """What had been spent at the first validation that was as good; None: none was."""
        sign = 1 if higher_is_better else -1
        good = (
            one.spent
            for one in self.points
            if sign * one.values.get(metric, -sign * np.inf) >= sign * quality
        )
        return next(good, None)


def learning(metrics: Path) -> Learning:
    """Validations tell their step alone. What was spent until then lies between two lines of the log."""
    lines = list(read_metrics(metrics))
    logged = [line for line in lines if line["kind"] == "train"]
    steps = [0, *(line["step"] for line in logged)]
    spent = {name: [0, *(line[name] for line in logged)] for name in ("tokens", "seconds")}

    def until(step: int) -> Spent:
        tokens, seconds = (float(np.interp(step, steps, spent[name])) for name in ("tokens", "seconds"))
        return Spent(step, round(tokens), seconds)

    points = [
        Point(until(line["step"]), {name: value for name, value in line.items() if _is_figure(name, value)})
        for line in lines
        if line["kind"] == "validation"
    ]
    memory = max((line["memory"] for line in logged if line.get("memory")), default=None)
    return Learning(until(steps[-1]), memory, points)


def _is_figure(name: str, value: Any) -> bool:
    return name not in ("kind", "step") and isinstance(value, int | float) and bool(np.isfinite(value))


@dataclass(frozen=True)
class Decoding:
    sentences_per_second: float
    parameters: int


@contextmanager
def computing_with(threads: int) -> Iterator[None]:
    """While it lasts, torch has so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Timer:
    """Times decoding, once: what was measured is kept with all that it depends on.

    One model at a time, with nothing beside it and as many threads as a training had, so that rates can be compared.
    """

    def __init__(self, path: Path, requests: Sequence[Request], *, threads: int):
        self.path = path
        self.requests = list(islice(requests, SENTENCES))
        self.threads = threads

    def __call__(self, candidate: Candidate, predictor: Predictor) -> Decoding:
        conditions = {
            **basis(candidate.run.model, self.requests, predictor.search),
            "threads": self.threads,
            "device": str(predictor.device),
        }
        name = str(candidate.folder.resolve())
        known = self._known()
        if known.get(name, {}).get("conditions") != conditions:
            with computing_with(self.threads):
                known[name] = {"conditions": conditions, "sentences_per_second": self._measure(predictor)}
            write_whole(self.path, json.dumps(known, indent=1) + "\n")
        return Decoding(known[name]["sentences_per_second"], predictor.parameters)

    def _known(self) -> dict[str, Any]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _measure(self, predictor: Predictor) -> float:
        predictor.predict(self.requests[:8], attention="none")  # the first call of anything is slow
        answered, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < LEAST_SECONDS:
            predictor.predict(self.requests, attention="none")
            answered += len(self.requests)
        return answered / spent
