"""Bodies of requests: JSON and forms, read strictly."""

import asyncio
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from regard.server.problems import Problem, invalid

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
QUICK = 100_000  # bytes that are read at once; more of them in a thread, so that others are served meanwhile
MOST_FIELDS = 1000  # of an object, or of a form
DEEPEST = 20  # brackets in brackets; nothing that can be asked needs more than four

ModelT = TypeVar("ModelT", bound=BaseModel)

_UNFIT = re.compile("[\0\ud800-\udfff]")


async def read(request: Request, model: type[ModelT], *, forms: bool = False) -> ModelT:
    """What was asked, checked; a Problem for what is no such thing."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if kind not in ((JSON, FORM) if forms else (JSON,)):
        known = f"{JSON} or {FORM}" if forms else JSON
        raise Problem(415, f"The body must be {known}, and the header content-type must say so.")
    checked = partial(_checked, body, _form if kind == FORM else parse, model)
    return await asyncio.to_thread(checked) if len(body) > QUICK else checked()


def _checked(body: bytes, parsed: Callable[[bytes], Any], model: type[ModelT]) -> ModelT:
    found = parsed(body)
    check_texts(found)
    try:
        return model.model_validate(found)
    except ValidationError as error:
        raise invalid(error.errors(include_url=False, include_input=False), model) from None


def parse(body: bytes) -> Any:
    """JSON as its standard has it: UTF-8, finite numbers, brackets that a person could count."""
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise Problem(422, f"The body is not UTF-8: byte {error.start + 1} can't be read.") from None
    except json.JSONDecodeError as error:
        raise Problem(
            422, f"The body is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None
    except ValueError:
        raise Problem(422, "The body holds a number of too many digits.") from None
    except RecursionError:
        raise _too_deep() from None


def check_texts(found: Any, place: str = "", depth: int = 0) -> None:
    """Refuses texts that hold NUL or half a character, wherever they stand, and brackets beyond counting."""
    if depth > DEEPEST:
        raise _too_deep()
    if isinstance(found, str):
        if unfit := _UNFIT.search(found):
            what = "the character NUL" if unfit[0] == "\0" else "half a character (a lone surrogate)"
            raise Problem(422, f"{place or 'The body'} holds {what}. Leave it out.", field=place or None)
    elif isinstance(found, dict):
        if len(found) > MOST_FIELDS:
            raise Problem(422, f"{place or 'The body'} has more than {MOST_FIELDS:,} fields.")
        for name, value in found.items():
            check_texts(name, "A field's name")
            check_texts(value, f"{place}.{name[:40]}" if place else name[:40], depth + 1)
    elif isinstance(found, list):
        for number, value in enumerate(found):
            check_texts(value, f"{place}.{number}", depth + 1)


def _form(body: bytes) -> dict[str, Any]:
    """The fields of a form; one that comes several times is a list."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise Problem(
            422, "The body is no form: it holds bytes that are not UTF-8, or too many fields."
        ) from None
    found: dict[str, Any] = {}
    for name, value in pairs:
        found[name] = [*_listed(found[name]), value] if name in found else value
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _too_deep() -> Problem:
    return Problem(422, f"The body has more than {DEEPEST} brackets inside each other.")


def _no_number(name: str) -> float:
    raise Problem(422, f"{name} is no number that can be asked for. Give a finite one.")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Problem(422, f"{digits[:40]} is too large a number.")
    return value
