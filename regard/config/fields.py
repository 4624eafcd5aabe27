"""What every section is made of: a base, names out of registries, numbers with bounds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic_core import CoreSchema, core_schema

from regard.core.errors import did_you_mean


@dataclass(frozen=True, eq=False)
class Member:
    """A name out of a registry: the registry stays the only place where members are listed."""

    registry: Mapping[str, Any]
    aliases: Mapping[str, str] = field(default_factory=dict)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "enum": [*self.registry, *self.aliases]}

    def _check(self, name: str) -> str:
        name = self.aliases.get(name, name)
        if name not in self.registry:
            raise ValueError(not_one_of(name, list(self.registry)))
        return name


def not_one_of(name: str, names: Sequence[str]) -> str:
    hint = did_you_mean(name, names)
    near = hint if "Did you mean" in hint else ""
    shown = name if len(name) <= 100 else f"{name[:100]}..."
    return f"{shown!r} is not one of {', '.join(names)}.{near}"


def left_out(key: str, value: str) -> BeforeValidator:
    """What the key of a union means where a section does not have it."""
    return BeforeValidator(lambda given: {key: value, **given} if isinstance(given, dict) else given)


def _language(code: str) -> str:
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*", code, re.ASCII) or len(code) > 35:
        raise ValueError(f"{code[:40]!r} is not the code of a language. Write it like en, de or pt-BR")
    return code


# Every number has an upper bound, far above what anybody needs: past it lies a slip of the keyboard,
# and torch would answer it with an overflow.
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Steps = Annotated[int, Field(ge=1, le=10**12)]
Pairs = Annotated[int, Field(ge=1, le=10**9)]
Tokens = Annotated[int, Field(ge=1, le=10**9)]
Length = Annotated[int, Field(ge=1, le=100_000)]
Column = Annotated[int, Field(ge=1, le=1000)]
Width = Annotated[int, Field(ge=1, le=100_000)]
Layers = Annotated[int, Field(ge=1, le=1000)]
Heads = Annotated[int, Field(ge=1, le=1000)]
Together = Annotated[int, Field(ge=1, le=100)]
Year = Annotated[int, Field(ge=1, le=9999)]
Beta = Annotated[float, Field(ge=0, lt=1)]
Language = Annotated[str, AfterValidator(_language)]


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
