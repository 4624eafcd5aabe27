"""The part of LibreTranslate's API that can be kept honestly: /translate, /languages, /health."""

from collections import defaultdict
from itertools import islice
from typing import Annotated, Any, Literal

from babel import Locale, UnknownLocaleError
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, field_validator

from regard.core.prediction import Request as Asked
from regard.server.bodies import FORM, JSON, read
from regard.server.desk import Desk
from regard.server.documents import asks, refusals
from regard.server.problems import Problem
from regard.server.served import Models, Served
from regard.server.wire import MOST_INPUTS, Ask, Status

router = APIRouter()

AUTO = "auto"


class Translate(BaseModel):
    """As LibreTranslate has it. Each line of `q` is translated by itself."""

    model_config = ConfigDict(extra="ignore")

    q: str | Annotated[list[str], Field(max_length=MOST_INPUTS, fail_fast=True)]
    source: str = Field(max_length=100)
    target: str = Field(max_length=100)
    format: Literal["text", "html"] = "text"
    alternatives: int = Field(0, ge=0, le=999, description="So many other translations of each text.")
    api_key: str | None = Field(None, max_length=10_000)

    @field_validator("alternatives", mode="before")
    @classmethod
    def _in_a_form(cls, value: Any) -> Any:
        return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


class Translated(BaseModel):
    translatedText: str | list[str]  # noqa: N815 (LibreTranslate's name)
    alternatives: list[str] | list[list[str]] | None = None


class Language(BaseModel):
    code: str
    name: str
    targets: list[str]


@router.get("/languages", response_model=list[Language])
async def languages(request: Request) -> list[dict[str, Any]]:
    """The languages that can be translated from, and into what."""
    targets: defaultdict[str, set[str]] = defaultdict(set)
    for model in request.state.desk.models:
        for source, target in model.directions:
            targets[source].add(target)
    return [
        {"code": code, "name": _name(code), "targets": sorted(found)}
        for code, found in sorted(targets.items())
    ]


@router.get("/health", response_model=Status)
async def health() -> dict[str, str]:
    """As LibreTranslate has it."""
    return {"status": "ok"}


@router.post(
    "/translate",
    response_model=Translated,
    response_model_exclude_none=True,
    responses=refusals(400, 403, 408, 413, 415, 422, 429, 500, 503, 504),
    openapi_extra=asks(Translate, JSON, FORM),
)
async def translate(request: Request) -> Response:
    """Translates a text, or each of several."""
    desk: Desk = request.state.desk
    asked = await read(request, Translate, forms=True)
    keys = request.state.keys
    if not (keys.fit(asked.api_key) if asked.api_key is not None else keys.fit_headers(request.headers)):
        raise Problem(403, "This server asks for an api_key.")
    if asked.format == "html":
        raise Problem(400, "Only plain text is translated here: leave out format, or set it to text.")
    model = find(desk.models, asked.source, asked.target)
    texts = [asked.q] if isinstance(asked.q, str) else asked.q
    request.state.note(model.name, texts)
    if not texts:
        return JSONResponse(_content(asked, []))
    desk.check_number(sum(text.count("\n") + 1 for text in texts))  # before anything is made of each
    lines = [[line.removesuffix("\r") for line in text.split("\n")] for text in texts]  # forms write both
    to = asked.target if model.predictor.codec.languages else None
    requests = [Asked(line, to=to) for text in lines for line in text]
    options = {"best": asked.alternatives + 1} if asked.alternatives else {}
    with desk.visit(request) as visit:
        way = await desk.way(model, requests, Ask.model_validate({"inputs": ["-"], **options}))
        with desk.jobs(visit, way, requests) as jobs:
            answers = iter(await desk.answers(visit, jobs))
    found = []
    for text in lines:
        own = list(islice(answers, len(text)))
        ranked = [[one.text for one in (answer, *answer.alternatives)] for answer in own]
        found.append(
            ["\n".join(some[min(n, len(some) - 1)] for some in ranked) for n in range(asked.alternatives + 1)]
        )
    return JSONResponse(_content(asked, found))


def _content(asked: Translate, found: list[list[str]]) -> dict[str, Any]:
    """A text for a text, a list for a list."""
    best, others = [one[0] for one in found], [one[1:] for one in found]
    single = isinstance(asked.q, str)
    content: dict[str, Any] = {"translatedText": best[0] if single else best}
    if asked.alternatives:
        content["alternatives"] = others[0] if single else others
    return content


def find(models: Models, source: str, target: str) -> Served:
    """The model for two languages. Where one alone answers in the target, nobody has to know the source."""
    fitting = [
        model
        for model in models
        if any(to == target and source in (AUTO, own) for own, to in model.directions)
    ]
    if not fitting:
        raise Problem(
            400, f"Nothing here translates from {source[:40]!r} to {target[:40]!r}: see /languages."
        )
    if source == AUTO and len(fitting) > 1:
        raise Problem(400, "The language of a text is not detected here: say what source is.")
    return fitting[0]


def _name(code: str) -> str:
    try:
        return Locale.parse(code, sep="-").get_display_name("en") or code
    except (UnknownLocaleError, ValueError):
        return code
