"""Series as texts to what a model reads, and its courses back to points."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.core.batch import Sensed, Vectors
from regard.core.errors import UserError
from regard.core.points import (
    Points,
    SeriesSource,
    read_points,
    read_series_source,
    write_points,
    write_series_source,
)
from regard.core.prediction import AttentionRecord, Prediction, Request, View, trimmed
from regard.data import Limits, Pair, PairReport, fingerprint
from regard.data.held import HeldStore
from regard.search import Course, Rolled, Rules
from regard.tasks.codec import Answers, Sources
from regard.tasks.scaling import Scaling
from regard.tasks.targets import warn_of_length
from regard.tasks.unknowns import Copying

SCALING = "scaling.json"


@dataclass(frozen=True)
class Observed:
    """A series as a model reads it."""

    text: str
    series: Points = field(repr=False)
    rows: NDArray[np.float32] = field(repr=False)  # S D, in the model's measure
    context: NDArray[np.float32] | None = field(repr=False)  # C E
    unread: int = 0  # points that were too many, the first

    @property
    def name(self) -> bytes:
        beside = b"" if self.context is None else self.context.tobytes()
        return self.rows.tobytes() + b" " + beside

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class SeriesCodec:
    """Series as texts to rows in a model's measure, and courses back to points."""

    scaling: Scaling
    limits: Limits
    view: View
    seen: int | None = None  # steps of a source, as a rule
    warns: bool = True  # of sources that are too long, quoting how they begin

    languages: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    looks = False

    @cached_property
    def sources(self) -> Sources:
        """Whoever draws a series has to know how large it is, and how far it goes at a step, where that is known."""
        scaling = self.scaling
        facts = {
            "values": scaling.size,
            "context": scaling.context_size,
            "steps": self.seen,
            "mean": scaling.points.mean.tolist(),
            "scale": scaling.points.scale.tolist(),
            "stride": scaling.stride,
        }
        return Sources("series", unit="points", facts=facts)

    @property
    def answers(self) -> Answers:
        return Answers("series", {"values": self.scaling.size})

    @property
    def example(self) -> str:
        beside = None if self.scaling.context is None else self.scaling.context.mean[None]
        return write_series_source(self.scaling.points.mean[None], beside)

    @property
    def sizes(self) -> dict[str, int]:
        own = {"source": self.scaling.size, "target": self.scaling.size}
        return own if self.scaling.context_size is None else {**own, "context": self.scaling.context_size}

    def agrees(self, other: "SeriesCodec") -> bool:
        return self.scaling.to_json() == other.scaling.to_json()

    def check(self, request: Request) -> None:
        wishes = {
            "to": request.to,
            "prefix": request.prefix,
            "require": request.require,
            "forbid": request.forbid,
        }
        if asked := [name for name, wish in wishes.items() if wish]:
            raise UserError(f"the answer is no text, so that nothing can be asked of it by {asked[0]}")

    def admit(self, given: Any) -> str:
        text = given if isinstance(given, str) else json.dumps(given)
        if text.strip():
            source = read_series_source(text)
            self.scaling.encode(source.series)
            self.scaling.encode_context(self._beside(source))
        return text

    def read(self, requests: Sequence[Request]) -> list[Observed | UserError | None]:
        return [self._read(request) for request in requests]

    def _read(self, request: Request) -> Observed | UserError | None:
        if not request.text.strip():
            return None
        try:
            self.check(request)
            return self._observed(request.text)
        except UserError as error:
            return error

    def _observed(self, text: str) -> Observed:
        source = read_series_source(text)
        longest = self.limits.source
        if self.warns:
            warn_of_length("source", longest, [(text, len(source.series))])
        rows = self.scaling.encode(source.series)[-longest:].astype(np.float32)
        beside = self.scaling.encode_context(self._beside(source))
        context = None if beside is None else beside.astype(np.float32)
        return Observed(text, source.series, rows, context, len(source.series) - len(rows))

    def _beside(self, source: SeriesSource) -> Points | None:
        """The context, where the model was trained with one: it may stand in sources for others."""
        return source.context if self.scaling.context is not None else None

    def measure(self, texts: Sequence[str]) -> list[int]:
        found = []
        for text in texts:
            try:
                source = read_series_source(text)
                beside = self._beside(source)
                found.append(max(len(source.series), 0 if beside is None else len(beside)))
            except UserError:
                found.append(0)  # told of when it is read
        return found

    def collate(self, reads: Sequence[Observed]) -> Vectors | Sensed:
        return _collated([(read.rows, read.context) for read in reads])

    def rules(self, request: Request) -> Rules:
        self.check(request)
        return ()

    def answer(self, read: Observed, found: Rolled) -> Prediction:
        best, *others = (self._prediction(read, course) for course in found.hypotheses)
        return replace(best, alternatives=tuple(others))

    def _prediction(self, read: Observed, course: Course) -> Prediction:
        beside = 0 if read.context is None else len(read.context)
        weights = trimmed(course.attention, source=len(read), context=beside)
        points = self.scaling.decode(read.series, course.points.astype(np.float64))
        steps = tuple(f"+{step}" for step in range(1, len(course.points) + 1))
        observed = tuple(f"{step}" for step in range(1 - len(read), 1))
        return Prediction(
            source=read.text,
            text=write_points(self.scaling.rounded(points)),
            pieces=steps,
            score=course.score,
            attention=AttentionRecord(observed, steps, weights),
            finished=course.finished,
            rank=course.rank,
            piece_scores=course.steps,
            unread=read.unread,
            view=self.view,
        )

    def encode_targets(
        self, texts: Sequence[str], sources: Sequence[str], to: str | None = None
    ) -> list[list[int]]:
        raise UserError(
            "The answers of this model are points: they cannot be forced on it as pieces of a text."
        )

    def forced(self, read: Any, target: str, hypothesis: Any) -> Prediction:
        raise NotImplementedError("what cannot be encoded is never forced")

    def said(self, tokens: Sequence[Any], source: str) -> tuple[tuple[str, ...], str]:
        """Of rows in the model's measure."""
        rows = np.array(tokens, dtype=np.float64).reshape(len(tokens), self.scaling.size)
        points = self.scaling.rounded(self.scaling.decode(read_series_source(source).series, rows))
        return tuple(f"+{step}" for step in range(1, len(tokens) + 1)), write_points(points)

    def nothing(self, text: str, *, problem: str | None = None) -> Prediction:
        record = AttentionRecord((), (), {"cross": np.zeros((1, 1, 0, 0), dtype=np.float32)})
        return Prediction(
            source=text, text="", pieces=(), score=0.0, attention=record, problem=problem, view=self.view
        )

    def copying_unknown(self, copying: Copying) -> "SeriesCodec":
        raise UserError("Unknown words are copied into texts, but the answers of this model are points.")

    def guarded(self) -> "SeriesCodec":
        return replace(self, warns=False)

    def store(self, cache: Path, pairs: Callable[[], Iterable[Pair]]) -> HeldStore:
        """In memory: points are small."""
        held = list(pairs())
        reads, targets = [], []
        for number, pair in enumerate(held, start=1):
            try:
                read = self._observed(pair.source)
                target = self.scaling.encode_target(read.series, read_points(pair.target))
            except UserError as error:
                raise UserError(f"Pair {number}: {error}") from error
            reads.append((read.rows, read.context))
            targets.append(target.astype(np.float32))
        if not held:
            raise UserError("Nothing is left to work with: there are no pairs.")
        return HeldStore(
            fingerprint=fingerprint([[self.scaling.to_json()], *(pair.texts for pair in held)]),
            report=PairReport(kept=len(held)),
            sources=reads,
            of=np.arange(len(held)),
            targets=targets,
            source_lengths=np.array([len(rows) for rows, _ in reads]),
            target_lengths=np.array([len(rows) for rows in targets]),
            collate_sources=_collated,
            collate_targets=Vectors.pad,
        )

    def save(self, folder: Path) -> None:
        self.scaling.save(folder / SCALING)

    @staticmethod
    def load(folder: Path, limits: Limits, view: View, seen: int | None = None) -> "SeriesCodec":
        return SeriesCodec(Scaling.load(folder / SCALING), limits, view, seen)


def _collated(rows: Sequence[tuple[NDArray[np.float32], NDArray[np.float32] | None]]) -> Vectors | Sensed:
    series = Vectors.pad([own for own, _ in rows])
    beside = [context for _, context in rows if context is not None]
    return Sensed(series, Vectors.pad(beside)) if beside else series
