"""Where requests are taken in: what they ask for is checked against the limits, put in line and awaited."""

import asyncio
import json
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import Request as HttpRequest

from regard.answers import as_object
from regard.core.errors import UserError
from regard.core.prediction import Prediction, Request
from regard.search import Finder, Question
from regard.server.problems import Problem, busy
from regard.server.served import Models, Served
from regard.server.settings import Limits
from regard.server.tallies import Tallies
from regard.server.wire import Ask
from regard.server.work import Job, Line, Way
from regard.tasks.codec import Codec
from regard.viewing.document import described
from regard.viewing.labels import ordinary

ResultT = TypeVar("ResultT")

QUICK = 2000  # characters that are cut into pieces at once; more of them in a thread


class Gone(Exception):  # noqa: N818 (no error of anybody's)
    """The client went away."""


@dataclass
class Desk:
    models: Models
    limits: Limits
    line: Line
    tallies: Tallies
    under_way: int = field(default=0, init=False)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    @contextmanager
    def visit(self, http: HttpRequest) -> Iterator["Visit"]:
        """A request whose body is read: it counts among those under way until it is answered."""
        if problem := self.crowded():
            raise problem
        self.under_way += 1
        try:
            yield Visit(http, time.monotonic() + self.limits.deadline_seconds, self.tallies)
        finally:
            self.under_way -= 1

    async def admitted(self, visit: "Visit", model: Served, ask: Ask) -> list[Request]:
        """What is asked, with sources that can be read; a Problem for the first that cannot."""
        self.check_number(len(ask.inputs))
        try:
            return await visit.awaited(self._all_admitted(model.predictor.codec, ask))
        except TimeoutError:
            raise busy(
                f"The inputs could not be read within {self.limits.deadline_seconds:g} seconds. Ask for fewer.",
                seconds=self.line.patience(),
                status=503,
            ) from None

    async def _all_admitted(self, codec: Codec, ask: Ask) -> list[Request]:
        found = []
        for number, wish in enumerate(ask.wishes()):
            text = await self._admitted(codec, number, wish.source)
            found.append(Request(text, wish.prefix or "", wish.require or (), wish.forbid or (), wish.to))
        return found

    async def _admitted(self, codec: Codec, number: int, given: Any) -> str:
        try:
            if isinstance(given, str) and len(given) <= codec.sources.quick:
                return codec.admit(given)
            return await asyncio.shield(self._read(codec, given))
        except UserError as error:
            raise Problem(
                422, f"Input {number}: {str(error).removesuffix('.')}.", field=f"inputs.{number}"
            ) from None

    async def _read(self, codec: Codec, given: Any) -> str:
        """One after the other: a picture can need much memory while it is read, also for a client that has left."""
        async with self._reading:
            return await asyncio.to_thread(codec.admit, given)

    async def way(self, model: Served, requests: Sequence[Request], ask: Ask) -> Way:
        """How the model is to be asked; a Problem where something is beyond it or beyond the limits."""
        for part in ask.returns:
            if part not in model.returns:
                raise Problem(422, model.why_not(part), field="return")
        way = Way(model, self._plan(model, ask.options()), ask.recorded)
        await self.check(way, requests)
        return way

    def _plan(self, model: Served, options: Mapping[str, Any]) -> Finder:
        most = {
            "beam": self.limits.beam,
            "groups": self.limits.beam,
            "best": model.best(self.limits),
            "likeliest": self.limits.alternatives,
            "max_length": model.longest_answer,
            "min_length": model.longest_answer - 1,
        }
        for name, limit in most.items():
            if options.get(name, 0) > limit:
                known = "alternatives" if name == "likeliest" else name
                raise Problem(
                    422,
                    f"{known} is {options[name]}, but at most {limit} is allowed.",
                    field=known,
                    found=options[name],
                    most=limit,
                )
        try:
            return model.search.changed(options)
        except UserError as error:
            raise Problem(422, str(error)) from None

    async def check(self, way: Way, requests: Sequence[Request]) -> None:
        """Numbers and lengths of the inputs."""
        limits, model = self.limits, way.model
        self.check_number(len(requests))
        for number, request in enumerate(requests):
            phrases = [*request.require, *request.forbid]
            if len(phrases) > limits.phrases:
                raise _too_much(number, "{} phrases", len(phrases), limits.phrases)
            characters = sum(map(len, phrases)) + len(request.prefix)
            if characters > limits.phrase_characters:
                raise _too_much(number, "wishes of {} characters", characters, limits.phrase_characters)
            try:
                model.predictor.codec.check(request)
            except UserError as error:
                about_language = request.to is not None or model.predictor.codec.languages
                field = "to" if about_language else f"inputs.{number}"
                raise Problem(422, f"Input {number}: {error}.", field=field) from None
        most, sources = model.longest(limits), model.predictor.codec.sources
        texts = [request.text for request in requests]
        for number, text in enumerate(texts):  # what is so long need not be cut into pieces to know it
            if sources.letters is not None and len(text) > sources.letters * most:
                raise _too_much(number, "{} characters", len(text), sources.letters * most)
        if sum(map(len, texts)) <= QUICK:
            lengths = model.predictor.codec.measure(texts)
        else:
            lengths = await asyncio.to_thread(model.predictor.codec.measure, texts)
        for number, length in enumerate(lengths):
            if length > most:
                raise _too_much(number, f"{{}} {sources.unit}", length, most)
            read = min(length, model.longest_source)  # of what is longer, a part
            least = way.plan.least(Question(read + 2))
            if least >= model.longest_answer:
                raise _too_much(number, "answers of {} pieces", least, model.longest_answer - 1)

    def check_number(self, inputs: int) -> None:
        if inputs > self.limits.inputs:
            raise Problem(
                422,
                f"There are {inputs} inputs, but at most {self.limits.inputs} are allowed.",
                field="inputs",
                found=inputs,
                most=self.limits.inputs,
            )

    def crowded(self) -> Problem | None:
        """Why nobody more can be taken in now, if so; it is counted as refused."""
        if self.under_way < self.limits.requests and len(self.line) < self.limits.queue:
            return None
        self.tallies.add("refused_total", 1)
        return busy("Too many requests are being answered. Try again later.", seconds=self.line.patience())

    @contextmanager
    def jobs(
        self, visit: "Visit", way: Way, requests: Sequence[Request], *, listening: bool = False
    ) -> Iterator[list[Job]]:
        """The inputs in line; whatever happens, nobody works on them after this."""
        jobs = [Job(way, request, deadline=visit.deadline, listening=listening) for request in requests]
        try:
            self.line.put(jobs)
        except Problem:
            self.tallies.add("refused_total", 1)
            raise
        try:
            yield jobs
        finally:
            if listening and any(job.wanted() and not job.answer.done() for job in jobs):
                self.tallies.add("cancelled_total", 1)  # it listens no more
            for job in jobs:
                job.leave()
            self.line.forget(jobs)

    async def answers(self, visit: "Visit", jobs: Sequence[Job]) -> list[Prediction]:
        """All of them; a Problem at the deadline, Gone if the client goes away before."""
        try:
            return await visit.awaited(_all(jobs))
        except TimeoutError:
            raise self.late(jobs) from None

    def late(self, jobs: Sequence[Job]) -> Problem:
        self.tallies.add("late_total", 1)
        seconds = self.limits.deadline_seconds
        if any(job.begun for job in jobs):
            return Problem(
                504, f"The answer took longer than {seconds:g} seconds. Ask for less, or for a narrower beam."
            )
        return busy(
            f"The model did not come to this request within {seconds:g} seconds. Try again later.",
            seconds=self.line.patience(),
            status=503,
        )

    def check_size(self, answers: Sequence[Prediction], ask: Ask, before: int = 0) -> int:
        """The numbers of attention and beams in a response, with those that it had `before`; a Problem for too many."""
        every = [one for answer in answers for one in (answer, *answer.alternatives)]
        looks = sum(weights.size for one in every for weights in one.attention.weights.values())
        nodes = sum(len(answer.beam or ()) for answer in answers)
        numbers = before + looks * ("attention" in ask.returns) + nodes
        if numbers > self.limits.numbers:
            raise Problem(
                422,
                f"The attention and beams of these answers are {numbers:,} numbers, but at most "
                f"{self.limits.numbers:,} are returned at once. Ask for fewer inputs or answers.",
                field="return",
                found=numbers,
                most=self.limits.numbers,
            )
        return numbers


@dataclass(frozen=True)
class Visit:
    """Somebody who waits for an answer, until a deadline or as long as they like."""

    http: HttpRequest
    deadline: float
    tallies: Tallies

    async def awaited(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """What the work gives; a TimeoutError at the deadline, Gone if the client goes away before."""
        working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(disconnected(self.http))
        waiting: set[asyncio.Future[Any]] = {working, leaving}
        try:
            await asyncio.wait(
                waiting, timeout=self.deadline - time.monotonic(), return_when=asyncio.FIRST_COMPLETED
            )
            if working.done():
                return working.result()
            if leaving.done():
                self.tallies.add("cancelled_total", 1)
                raise Gone
            raise TimeoutError
        finally:
            leaving.cancel()
            working.cancel()


def predicted(answer: Prediction, ask: Ask) -> bytes:
    """One input's answers, as JSON."""
    parts = [part for part in ask.returns if part != "beam"]
    content: dict[str, Any] = {
        "answers": [as_object(one, parts) for one in (answer, *answer.alternatives)],
        "problem": answer.problem,
    }
    if answer.unread:
        content["unread"] = answer.unread
    if "pieces" in ask.returns:
        content["source_pieces"] = _length(answer) + answer.unread
    if "beam" in ask.returns:
        content["beam"] = described(answer).get("beam", [])
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _length(answer: Prediction) -> int:
    """Of the source in pieces, without marks and tags, as limits count it."""
    record = answer.attention
    if record.source_words is not None:
        return sum(part is not None for part in record.source_words.of)
    return len(ordinary(record.source_pieces))


async def _all(jobs: Sequence[Job]) -> list[Prediction]:
    return [await asyncio.shield(job.answer) for job in jobs]


async def disconnected(http: HttpRequest) -> None:
    while (await http.receive())["type"] != "http.disconnect":
        pass


def _too_much(number: int, what: str, found: int, most: int) -> Problem:
    return Problem(
        422,
        f"Input {number} has {what.format(found)}, but at most {most} are allowed.",
        field=f"inputs.{number}",
        found=found,
        most=most,
    )
