"""Comparisons in TOML files: a base, and members that are laid over it. Some ship with Regard."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from regard.config import read_toml, recipes
from regard.config.fields import Seed, Settings, Steps
from regard.config.loading import UNKNOWN_SETTING
from regard.core.errors import UserError, did_you_mean, sentence


class Member(Settings):
    """One model of the comparison."""

    name: str = Field(min_length=1, max_length=100)
    base: str | None = Field(None, description="A recipe or a configuration; left out: that of all.")
    settings: dict[str, Any] = Field({}, description="What is laid over it, as a configuration has it.")


class Limit(Settings):
    """What every member may take; one of them."""

    steps: Steps | None = None
    tokens: Steps | None = None
    minutes: float | None = Field(None, gt=0, le=10**9)

    @model_validator(mode="after")
    def _one(self) -> "Limit":
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("a budget is one of steps, tokens and minutes")
        return self


class ComparisonFile(Settings):
    name: str = ""
    origin: str = ""  # for errors
    base: str = Field(description="A recipe, or a configuration beside this file.")
    seeds: list[Seed] = Field([], description="Of each member; left out: as its configuration says.")
    budget: Limit | None = Field(None, description="Of every member; left out: as its configuration says.")
    reach: float | None = Field(None, description="A quality whose cost is told.")
    metric: str | None = Field(None, description="That quality is measured by.")
    settings: dict[str, Any] = Field({}, description="What is laid over the base for all members.")
    members: list[Member] = Field(min_length=1)

    @property
    def budget_text(self) -> str | None:
        if self.budget is None:
            return None
        ((kind, amount),) = self.budget.model_dump(exclude_none=True).items()
        return f"{kind}={amount}"

    @model_validator(mode="after")
    def _members_differ(self) -> "ComparisonFile":
        names = [member.name for member in self.members]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two members are called {name!r}. Give each a name of its own")
        return self


def find_comparison(name: str) -> ComparisonFile | None:
    """One that ships with Regard, or a .toml file with members; None where it is something else."""
    known = comparisons()
    if name in known and name not in recipes():
        return _read(known[name], name)
    path = Path(name)
    if path.suffix == ".toml" and path.is_file() and "members" in read_toml(path, name):
        return _read(path, name, beside=path.parent)
    return None


def comparisons() -> dict[str, Traversable]:
    """Those that ship with Regard, by name."""
    folder = resources.files("regard") / "recipes" / "comparisons"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): file for file in files if file.name.endswith(".toml")}


def _read(file: Traversable, name: str, beside: Path | None = None) -> ComparisonFile:
    document = {"name": Path(name).stem, **read_toml(file, name), "origin": name}
    if beside is not None:
        for place in (document, *_tables(document.get("members"))):
            base = place.get("base")
            if isinstance(base, str) and (beside / base).is_file():
                place["base"] = str(beside / base)
    try:
        return ComparisonFile.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        if first["type"] == UNKNOWN_SETTING:
            sections: dict[object, type[Settings]] = {"members": Member, "budget": Limit}
            known = sections.get(first["loc"][0], ComparisonFile)
            hint = did_you_mean(str(first["loc"][-1]), [one for one in known.model_fields if one != "origin"])
            raise UserError(f"{name}: a comparison has no {key!r}.{hint}") from None
        raise UserError(f"{name}: {f'{key}: ' if key else ''}{sentence(first['msg'])}") from None


def _tables(members: Any) -> list[dict[str, Any]]:
    return [one for one in members if isinstance(one, dict)] if isinstance(members, list) else []
