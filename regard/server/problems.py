"""What goes wrong with a request, told in plain words and never with what was sent."""

import json
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails
from starlette.responses import Response

from regard.core.errors import did_you_mean
from regard.viewing.labels import plain

LONGEST = 300  # characters of a message
VARIANTS = (
    "str",
    "list[str]",
    "list[any]",
    "dict[str,any]",
    "text",
    "wish",
    "points",
    "series",
)  # pydantic names the members of a union in its locations


class Problem(Exception):  # noqa: N818 (it is an answer)
    """A request that is refused, with a status and a sentence.

    Where a number is above its limit, `found` and `most` are both, so that nobody has to read them out of the sentence.
    """

    def __init__(
        self,
        status: int,
        error: str,
        *,
        field: str | None = None,
        found: int | None = None,
        most: int | None = None,
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(error)
        self.status = status
        self.error = error
        self.field = field
        self.found = found
        self.most = most
        self.headers = dict(headers or {})

    @property
    def content(self) -> dict[str, Any]:
        """`{"error": "a sentence", "field": "inputs.0", "found": 75, "most": 60}`, safe to show wherever it goes."""
        told: dict[str, Any] = {"error": _shown(self.error)}
        if self.field:
            told["field"] = _shown(self.field)
        if self.found is not None:
            told |= {"found": self.found, "most": self.most}
        return told

    def response(self) -> Response:
        return Response(
            json.dumps(self.content), self.status, headers=self.headers, media_type="application/json"
        )


def failed() -> Problem:
    """A mistake of ours: what it is stands in the log alone."""
    return Problem(500, "The server failed. It goes on.")


def place_of(error: Exception) -> str:
    """Its kind and where it happened, without its message: that may quote what somebody sent."""
    places = traceback.extract_tb(error.__traceback__)[-4:]
    where = " < ".join(f"{place.filename}:{place.lineno}" for place in reversed(places))
    return f"{type(error).__name__} at {where}"


def busy(error: str, *, seconds: int, status: int = 429) -> Problem:
    """Come back later, and when."""
    return Problem(status, error, headers={"Retry-After": str(seconds)})


def invalid(errors: Sequence[ErrorDetails], model: type[BaseModel]) -> Problem:
    """The first thing that is wrong with a body, in words."""
    alike = [one for one in errors if _thing(one) == _thing(errors[0])]
    first = max(alike, key=lambda one: len(one["loc"]))  # of several forms, the one that came furthest
    place = [str(part) for n, part in enumerate(first["loc"]) if n == 0 or part not in VARIANTS]
    field = ".".join(part[:40] for part in place)
    if first["type"] == "extra_forbidden":
        near = did_you_mean(place[-1][:40], model.model_fields) if len(place) == 1 else ""
        return Problem(422, f"There is no field {_shown(field)}.{near}", field=field)
    if first["type"] == "missing":
        return Problem(422, f"The field {field} is missing.", field=field)
    said = first["msg"].removeprefix("Value error, ").removeprefix("Input ").rstrip(".")
    return Problem(422, f"{field or 'The body'} {said[:1].lower()}{said[1:]}.", field=field or None)


def _thing(error: ErrorDetails) -> tuple[int | str, ...]:
    """The field, or the member of a list, that an error is about."""
    place = error["loc"]
    return place[: 2 if len(place) > 1 and isinstance(place[1], int) else 1]


def _shown(text: str) -> str:
    text = plain(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
