"""The API of its own: models, predictions, and predictions as they grow."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from regard.core.pieces import END
from regard.core.prediction import Prediction
from regard.server.bodies import read
from regard.server.desk import Desk, predicted
from regard.server.documents import asks, refusals
from regard.server.problems import Problem
from regard.server.wire import Ask, ModelList, Predictions
from regard.server.work import Job

router = APIRouter(prefix="/v1")

EVENTS = "text/event-stream"
EVENT = {
    "type": "object",
    "properties": {
        "event": {"enum": ["start", "pieces", "prediction", "error", "end"]},
        "data": {"type": "string"},
    },
    "required": ["event", "data"],
}


@router.get("/models", response_model=ModelList, responses=refusals(401))
async def models(request: Request) -> dict[str, Any]:
    """The models that answer here, what they can return and what may be asked of them."""
    desk: Desk = request.state.desk
    body_bytes = desk.models.body_bytes(desk.limits)
    return {"models": [model.described(desk.limits, body_bytes) for model in desk.models]}


@router.post(
    "/predict",
    response_model=Predictions,
    responses=refusals(401, 404, 408, 413, 415, 422, 429, 500, 503, 504),
    openapi_extra=asks(Ask),
)
async def predict(request: Request) -> Response:
    """Answers each input, all together at the end."""
    desk: Desk = request.state.desk
    ask = await read(request, Ask)
    model = desk.models.get(ask.model)
    with desk.visit(request) as visit:
        requests = await desk.admitted(visit, model, ask)
        request.state.note(model.name, [one.text for one in requests])
        way = await desk.way(model, requests, ask)
        with desk.jobs(visit, way, requests) as jobs:
            answers = await desk.answers(visit, jobs)
            desk.check_size(answers, ask)
            parts = await written(answers, ask)
    body = b'{"model":%b,"predictions":[%b]}' % (json.dumps(model.name).encode(), b",".join(parts))
    return Response(body, media_type="application/json")


async def written(answers: Sequence[Prediction], ask: Ask) -> list[bytes]:
    """Long ones are written in a thread, one after the other, so that others are served in between."""
    if ask.recorded == "none" and "beam" not in ask.returns:
        return [predicted(answer, ask) for answer in answers]
    return [await asyncio.to_thread(predicted, answer, ask) for answer in answers]


@router.post(
    "/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {EVENTS: {"schema": EVENT}},
            "description": "Server-sent events; the data of each is JSON.",
        },
        **refusals(401, 404, 408, 413, 415, 422, 429, 500, 503),
    },
    openapi_extra=asks(Ask),
)
async def stream(request: Request) -> Response:
    """Answers each input, and tells the pieces of its best hypothesis as they come."""
    desk: Desk = request.state.desk
    ask = await read(request, Ask)
    model = desk.models.get(ask.model)
    with ExitStack() as place:
        visit = place.enter_context(desk.visit(request))
        requests = await desk.admitted(visit, model, ask)
        request.state.note(model.name, [one.text for one in requests])
        way = await desk.way(model, requests, ask)
        if way.plan.draw is not None and way.plan.best > 1:
            raise Problem(
                422,
                "Of several samples nobody knows the best before the end. Leave out best, or don't stream.",
            )
        jobs = place.enter_context(desk.jobs(visit, way, requests, listening=True))
        return _Stream(_followed(desk, jobs, ask), place.pop_all())


class _Stream(StreamingResponse):
    """Leaves the desk when it ends, however it ends: a generator that never began would not."""

    def __init__(self, events: AsyncIterator[bytes], place: ExitStack):
        super().__init__(events, media_type=EVENTS)
        self.place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.place:
            await super().__call__(scope, receive, send)


async def _followed(desk: Desk, jobs: Sequence[Job], ask: Ask) -> AsyncIterator[bytes]:
    yield _event("start", {"model": jobs[0].way.model.name, "inputs": len(jobs)})
    told: dict[int, list[Any]] = {number: [] for number in range(len(jobs))}  # of those without an answer
    numbers = 0  # of attention and beams, in the answers so far
    while told:
        left = jobs[0].deadline - time.monotonic()
        waiting = [asyncio.ensure_future(jobs[number].news.wait()) for number in told]
        try:
            await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:  # also when the client goes away
            for one in waiting:
                one.cancel()
        if jobs[0].deadline <= time.monotonic():
            problem = desk.late(jobs)
            yield _event("error", {"status": problem.status, **problem.content})
            return
        for number in [number for number in told if jobs[number].news.is_set()]:
            job = jobs[number]
            job.news.clear()
            if said := _pieces(job, told[number]):
                yield _event("pieces", {"input": number, **said})
            if job.answer.done():
                del told[number]
                try:
                    answer = job.answer.result()
                    numbers = desk.check_size([answer], ask, numbers)
                except Problem as problem:
                    yield _event("error", {"input": number, "status": problem.status, **problem.content})
                    continue
                (content,) = await written([answer], ask)
                yield b'event: prediction\ndata: {"input":%d,"prediction":%b}\n\n' % (number, content)
    yield _event("end", {})


def _pieces(job: Job, told: list[Any]) -> dict[str, Any] | None:
    """What is new: after the first `at` pieces come these; whatever stood there before is taken back."""
    said = [piece for piece in job.said if piece != END]
    if said == told:
        return None
    at = next((n for n, (old, new) in enumerate(zip(told, said, strict=False)) if old != new), None)
    if at is None:
        at = min(len(told), len(said))
    told[:] = said
    pieces, text = job.way.model.predictor.codec.said(said, job.request.text)
    return {"at": at, "pieces": list(pieces[at:]), "text": text}


def _event(name: str, content: dict[str, Any]) -> bytes:
    data = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"event: {name}\ndata: {data}\n\n".encode()
