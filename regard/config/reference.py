"""Every setting with its default, its values and its meaning, read off the classes that check it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from regard.config.settings import USUAL, Config

_SANE = 1000  # an upper bound above this only catches slips of the keyboard, and tells a reader nothing


@dataclass(frozen=True)
class Setting:
    name: str
    default: str  # as TOML writes it; empty: left out
    values: str
    meaning: str


@dataclass(frozen=True)
class Section:
    """The settings of one class. Where a section can be of several kinds, there is one `Section` for each."""

    name: str  # such as model.encoder
    choice: str  # such as `kind = "transformer"`; empty where there is one kind
    several: bool  # an array of tables: [[task.corpora]]
    meaning: str
    settings: tuple[Setting, ...]

    @property
    def title(self) -> str:
        head = f"[[{self.name}]]" if self.several else f"[{self.name}]"
        return f"{head} with {self.choice}" if self.choice else head


def sections(within: str = "") -> list[Section]:
    """All sections in the order of a configuration; or those at and below a name; or a setting of that name."""
    schema = Config.model_json_schema()
    found = list(_walk("", schema, schema["$defs"]))
    chosen = [one for one in found if not within or f"{one.name}.".startswith(f"{within}.")]
    section, _, name = within.rpartition(".")
    return chosen or [
        replace(one, settings=(setting,))
        for one in found
        for setting in one.settings
        if (one.name, setting.name) == (section, name)
    ]


def as_markdown(chosen: list[Section]) -> str:
    """A page of tables; settings that came before are not told again."""
    lines: list[str] = []
    told: dict[tuple[Setting, ...], Section] = {}
    for section in chosen:
        lines += _page(section, told.setdefault(section.settings, section))
    return "\n".join(lines)


def _page(section: Section, first: Section) -> Iterator[str]:
    yield f"## `{section.title}`\n"
    if section.meaning:
        yield f"{section.meaning}\n"
    if not section.settings:
        yield "It has no settings of its own.\n"
        return
    if first is not section:
        yield f"The same settings as `{first.title}`.\n"
        return
    yield "| setting | default | values | meaning |\n|---|---|---|---|"
    for setting in section.settings:
        default = f"`{setting.default}`" if setting.default else ""
        yield f"| `{setting.name}` | {default} | {setting.values} | {setting.meaning} |"
    yield ""


def _walk(name: str, schema: dict[str, Any], known: dict[str, Any], choice: str = "") -> Iterator[Section]:
    """One section and, after it, those inside of it."""
    own, inner = [], []
    several = name.endswith("[]")
    for key, field in schema.get("properties", {}).items():
        path = f"{name.removesuffix('[]')}.{key}".lstrip(".")
        below = list(_inside(path, field, known))
        inner.extend(below)
        if not below and "const" not in field and key != "origin":
            own.append(_setting(key, field))
    if own or choice:
        meaning = " ".join((schema.get("description", "") + _usual(choice)).split())
        yield Section(name.removesuffix("[]"), choice, several, meaning, tuple(own))
    yield from inner


def _usual(choice: str) -> str:
    """What other sections are like unless a file says otherwise, where they have this one beside them."""
    usual = next((settings for name, settings in USUAL.items() if choice == f'name = "{name}"'), {})
    told = [
        f"`{section}.{key} = {json.dumps(value)}`"
        for section, settings in usual.items()
        for key, value in settings.items()
    ]
    return f" Usual beside it: {', '.join(told)}." if told else ""


def _inside(path: str, field: dict[str, Any], known: dict[str, Any]) -> Iterator[Section]:
    """The sections that a key stands for; none where it is a setting."""
    if "oneOf" in field:
        told = field["discriminator"]["propertyName"]
        for one in field["oneOf"]:
            schema = _of(one, known)
            kinds = schema["properties"][told]
            names = [kinds["const"]] if "const" in kinds else kinds["enum"]
            yield from _walk(
                path, schema, known, f"{told} = " + " or ".join(json.dumps(name) for name in names)
            )
    elif "$ref" in field:
        yield from _walk(path, _of(field, known), known)
    elif "$ref" in field.get("items", {}):
        yield from _walk(f"{path}[]", _of(field["items"], known), known)


def _of(reference: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = known[reference["$ref"].rsplit("/", 1)[1]]
    return found


def _setting(name: str, field: dict[str, Any]) -> Setting:
    default = field.get("default")
    return Setting(
        name,
        "" if default is None else json.dumps(default, ensure_ascii=False),
        _values(field),
        field.get("description", ""),
    )


def _values(field: dict[str, Any]) -> str:
    options = [option for option in field.get("anyOf", [field]) if option.get("type") != "null"]
    if any("$ref" in option for option in options):
        return "files"
    (option,) = options
    if "enum" in option:
        return ", ".join(f"`{name}`" for name in option["enum"])
    kind = option["type"]
    if kind == "array":
        items = option.get("items") or option["prefixItems"][0]
        inner = _values(items)
        return f"{option['maxItems']} of: {inner}" if "prefixItems" in option else f"a list of: {inner}"
    if kind == "boolean":
        return "`true`, `false`"
    if kind == "string":
        return "a text"
    return ("a whole number" if kind == "integer" else "a number") + _bounds(option)


def _bounds(option: dict[str, Any]) -> str:
    told = []
    if "minimum" in option:
        told.append(f"from {option['minimum']:g}")
    if "exclusiveMinimum" in option:
        told.append(f"above {option['exclusiveMinimum']:g}")
    if option.get("maximum", _SANE) < _SANE:
        told.append(f"to {option['maximum']:g}")
    if option.get("exclusiveMaximum", _SANE) < _SANE:
        told.append(f"below {option['exclusiveMaximum']:g}")
    return " " + " ".join(told) if told else ""
