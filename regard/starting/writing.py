"""Settings with their reasons, as TOML."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_COLUMNS = 108


@dataclass(frozen=True)
class Setting:
    name: str
    value: Any
    why: str = ""


Sections = Mapping[str, Sequence[Setting]]


def written(sections: Sections) -> str:
    """A reason stands above its setting."""
    lines = ["# Made by `regard new` for the pairs below: every number says why. Change what you like.", ""]
    for name, settings in sections.items():
        lines.append(f"[{name}]")
        for setting in settings:
            lines += [f"# {line}" for line in textwrap.wrap(setting.why, _COLUMNS)]
            lines.append(f"{setting.name} = {_toml(setting.value)}")
        lines.append("")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return f"{{ {', '.join(f'{name} = {_toml(inner)}' for name, inner in value.items())} }}"
        case _:
            return json.dumps(value)
