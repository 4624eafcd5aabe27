"""What the API is, for machines (/openapi.json) and for people (/docs), with nothing fetched from elsewhere."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from regard.server.wire import Refusal

REFUSALS = {
    400: "What is asked for is not served here.",
    401: "A key is needed, or another one.",
    403: "A key is needed, or another one.",
    404: "There is no such model.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The body is neither JSON nor what else is understood.",
    422: "Something asked for makes no sense or is too much; `error` says what.",
    429: "Too much is being asked at once; `Retry-After` says when to come back.",
    500: "The server failed.",
    503: "The server is too busy; `Retry-After` says when to come back.",
    504: "The answer took too long.",
}
_REFERENCE = "#/components/schemas/{model}"


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Refusal, "description": REFUSALS[status]} for status in statuses}


def asks(model: type[BaseModel], *kinds: str) -> dict[str, Any]:
    """What a route reads by itself, as its schema tells it."""
    schema = {"$ref": _REFERENCE.format(model=model.__name__)}
    content = {kind: {"schema": schema} for kind in kinds or ("application/json",)}
    return {"requestBody": {"required": True, "content": content}}


def describe(app: FastAPI, *models: type[BaseModel]) -> None:
    """Lets the app tell its schema, with the models that its routes read by themselves."""

    def openapi() -> dict[str, Any]:
        if not app.openapi_schema:
            schema = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            known = schema.setdefault("components", {}).setdefault("schemas", {})
            for model in models:
                own = model.model_json_schema(ref_template=_REFERENCE)
                known |= own.pop("$defs", {})
                known[model.__name__] = own
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def page(schema: Mapping[str, Any]) -> str:
    """The schema as a page: routes, then shapes. Its links also lead there behind a proxy that adds a path."""
    routes = "".join(
        _route(path, method, route)
        for path, methods in schema["paths"].items()
        for method, route in methods.items()
    )
    shapes = "".join(_shape(name, shape) for name, shape in sorted(schema["components"]["schemas"].items()))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Regard: API</title>'
        '<link rel="stylesheet" href="docs/style.css"><h1>Regard: API</h1>'
        f"<p>{escape(schema['info'].get('description', ''))}</p>"
        '<p>For machines: <a href="openapi.json">openapi.json</a>.</p>'
        f"<h2>Routes</h2>{routes}<h2>Shapes</h2>{shapes}</html>"
    )


def _route(path: str, method: str, route: Mapping[str, Any]) -> str:
    asked = [_kind(one["schema"]) for one in route.get("requestBody", {}).get("content", {}).values()]
    body = f"<p>Body: {asked[0]}</p>" if asked else ""
    answers = "".join(
        f"<tr><td>{escape(status)}<td>{escape(answer.get('description', ''))}"
        for status, answer in route["responses"].items()
    )
    told = escape(route.get("description") or route.get("summary", ""))
    return f"<h3><code>{method.upper()} {escape(path)}</code></h3><p>{told}</p>{body}<table>{answers}</table>"


def _shape(name: str, shape: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code><td>{_kind(of)}<td>{escape(of.get('description', ''))}"
        for field, of in shape.get("properties", {}).items()
    )
    told = escape(shape.get("description", ""))
    return f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{told}</p><table>{rows}</table>'


def _kind(schema: Mapping[str, Any]) -> str:
    """Such as `list of integer from 1 to 1000, or null`."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return ", or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(escape(str(one)) for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return escape(" ".join([str(schema.get("type", "anything")), *_bounds(schema)]))


def _bounds(schema: Mapping[str, Any]) -> Iterator[str]:
    words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
    return (f"{word} {schema[name]}" for name, word in words.items() if name in schema)
