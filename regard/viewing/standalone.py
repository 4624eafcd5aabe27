"""What every stand-alone page needs: its parts put together, its texts escaped, and nothing else let in."""

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from importlib.resources import files

from regard.core.surrogates import without_surrogates


def assets(*names: str) -> str:
    """Files that come with this package, one after the other."""
    folder = files("regard.viewing").joinpath("assets")
    return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def spoken(text: str) -> str:
    """A text of anybody's as text of a page, never as markup."""
    return escape(without_surrogates(text).replace("\0", ""))


def filled(
    template: str,
    values: Mapping[str, str],
    *,
    style: str,
    script: str | None = None,
    pictures: bool = False,
) -> str:
    """The page: what stands in its body, with its values, one style, at most one script that reads its `data`, and a
    policy that forbids all others.

    With `pictures` it may show those that are written in it.
    """
    around = {
        "title": values["title"],
        "policy": _policy(style, script, pictures),
        "style": style,
        "main": _fill(template, values),
        "scripts": _fill("scripts.html", {"data": values["data"], "script": script}) if script else "",
    }
    return _fill("page.html", around)


def _fill(template: str, values: Mapping[str, str]) -> str:
    """In one pass, so that a text with braces in it is not filled in again."""
    first, *others = assets(template).split("{{")
    return first + "".join(values[name] + rest for name, _, rest in (part.partition("}}") for part in others))


def _policy(style: str, script: str | None, pictures: bool) -> str:
    """Nothing may be loaded, sent or run but what is written here."""
    scripts = f"script-src {_digest(script)}; " if script else ""
    images = "img-src data:; " if pictures else ""
    return f"default-src 'none'; style-src {_digest(style)}; {scripts}{images}base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
