"""Configurations from TOML files, recipes and presets, with changes laid over them."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from regard.config.fields import not_one_of
from regard.config.model import Model
from regard.config.parts import PictureEncoder
from regard.config.presets import PRESETS
from regard.config.settings import Config, Origin, laid_over
from regard.core.errors import UserError, did_you_mean

UNKNOWN_SETTING, UNKNOWN_MEMBER = "extra_forbidden", "union_tag_invalid"  # pydantic's words for them


def load_config(
    name: str | Path,
    changes: Sequence[str] = (),
    *,
    by: str = "--set",
    start: tuple[Origin, Config] | None = None,
) -> Config:
    """A recipe by name or a TOML file, with changes such as `"training.steps=100"` laid over it.

    `by` is where the changes come from, for whoever made a mistake in them. `start` is a model that training
    begins with: its settings and those of its pieces are kept.
    """
    path = find_config(name)
    return parse_config(read_toml(path, str(name)), origin=str(name), changes=changes, by=by, start=start)


def parse_config(
    document: dict[str, Any],
    *,
    origin: str,
    changes: Sequence[str] = (),
    by: str = "--set",
    start: tuple[Origin, Config] | None = None,
) -> Config:
    asked: dict[str, Any] = {}
    changed = [_change(change, asked, by) for change in changes]
    if "preset" in _section(asked, "model"):
        document.pop("model", None)  # another preset is another model: the file's sizes are not its own
    _start_afresh(_section(document, "model"), _section(asked, "model"))
    for change in changes:
        _change(change, document, by)
    _lay_over_preset(document, origin)
    if start is not None:
        _keep(document, *start, where=origin)
    try:
        return Config.model_validate(document)
    except ValidationError as error:
        raise UserError(_sentence(error, origin, changed, by)) from None


def of_preset(name: str) -> Config:
    """A model out of a paper as it stands there, with a task that it is for."""
    model = PRESETS[name]()
    task = {"task": {"name": "captions"}} if isinstance(model.encoder, PictureEncoder) else {}
    return parse_config({**task, "model": {"preset": name}}, origin=name)


def _lay_over_preset(document: dict[str, Any], origin: str) -> None:
    """The model's settings become the preset's with the given ones over them."""
    given = _section(document, "model")
    if given.get("preset") is None:
        return
    name = str(given["preset"])
    if name not in PRESETS:
        raise UserError(f"{origin}: there is no preset {name!r}.{did_you_mean(name, PRESETS)}")
    model = PRESETS[name]()
    preset = model.model_dump(mode="json", exclude_unset=True)
    # It need not say its kinds, but what is usual for a task must not take their place.
    for part in ("encoder", "decoder"):
        preset[part] = {"kind": getattr(model, part).kind, **preset.get(part, {})}
    _start_afresh(preset, given)
    document["model"] = laid_over(preset, given)


# What changes how texts are cut while a model learns, but not its pieces; and what of a model has no weights.
_FREE = (
    "text.sample",
    *(f"text.{side}.{name}" for side in ("source", "target") for name in ("dropout", "sampling")),
    *(f"model.{name}" for name in ("dropout", "embedding_noise", "word_dropout")),
    *(f"model.attention.{name}" for name in ("selection", "half_soft")),
)


def _keep(document: dict[str, Any], origin: Origin, started: Config, *, where: str) -> None:
    """Model and pieces become those of the model that it starts with; a setting that says otherwise is an error."""
    for section in ("model", "text"):
        settings = getattr(started, section)
        given = {section: _section(document, section)}
        its = _flat({section: settings.model_dump(mode="json")})
        for key, value in sorted(
            _flat(given).items(), key=lambda item: item[0] != "model.preset"
        ):  # it says most
            if key in its and key not in _FREE and its[key] != value:
                raise UserError(
                    f"{where}: {key} is {_shown(value)}, but {origin.run} was trained with {_shown(its[key])}. "
                    "A model that is trained further keeps its settings and its pieces: leave it out."
                )
        document[section] = laid_over(settings.model_dump(mode="json", exclude_none=True), given[section])
    document["origin"] = origin.model_dump()


def _start_afresh(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    """Where another kind of encoder or decoder is asked for, forgets what was said of the one below."""
    for part, sections in (("encoder", ["encoder"]), ("decoder", ["decoder", "attention"])):
        kind = _section(above, part).get("kind")
        if kind is not None and kind not in _kinds_alike(below, part):
            for section in sections:
                below.pop(section, None)


def _kinds_alike(model: Mapping[str, Any], part: str) -> Sequence[str]:
    """The kinds that have the same settings as that of a part of the model."""
    unchanged = PRESETS.get(str(model.get("preset")), Model)()
    kind = _section(model, part).get("kind", getattr(unchanged, part).kind)
    families = [_members(family, "kind") for family in _models_in(Model.model_fields[part].annotation)]
    return next((kinds for kinds in families if kind in kinds), ())


def _section(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    inner = document.get(name)
    return inner if isinstance(inner, dict) else {}


def find_config(name: str | Path) -> Traversable:
    path = Path(name)
    known = recipes()
    if path.is_dir() and str(name) in known:  # such as the run of a recipe: it does not hide the recipe
        return known[str(name)]
    if path.suffix == ".toml" or path.exists():
        return path
    if str(name) not in known:
        raise UserError(
            f"There is no recipe and no file {str(name)!r}.{did_you_mean(str(name), known)} "
            "`regard recipes` lists the recipes."
        )
    return known[str(name)]


def recipes() -> dict[str, Traversable]:
    """The configurations that ship with Regard, by name."""
    folder = resources.files("regard") / "recipes"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): file for file in files if file.name.endswith(".toml")}


def read_toml(path: Traversable, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))  # some editors put a mark before it
    except FileNotFoundError:
        raise UserError(f"{name}: there is no such file.") from None
    except IsADirectoryError:
        raise UserError(
            f"{name} is a folder; a configuration is a .toml file or the name of a recipe."
        ) from None
    except OSError as error:
        raise UserError(f"{name} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{name}, byte {error.start}: not UTF-8. Save the file as UTF-8.") from None
    except ValueError as error:  # TOMLDecodeError, and what Python says of a number of 5000 digits
        raise UserError(f"{name} is not valid TOML: {str(error).rstrip('.')}.") from None
    except RecursionError:
        raise UserError(f"{name} is not valid TOML: it is nested too deeply.") from None


def difference(old: Config, new: Config) -> list[str]:
    """`"training.seed: 1 -> 2"` for each setting that differs."""
    before, after = _flat(old.model_dump()), _flat(new.model_dump())
    keys = sorted(before.keys() | after.keys())
    return [f"{k}: {before.get(k)} -> {after.get(k)}" for k in keys if before.get(k) != after.get(k)]


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return flat


def _change(change: str, document: dict[str, Any], by: str) -> str:
    """Lays one `a.b=c` over the document and returns its key."""
    key, equals, value = change.partition("=")
    key = key.strip()
    if not equals or not all(key.split(".")):
        raise UserError(f"{by} {change}: expected key=value, such as training.steps=1000.")
    *tables, last = key.split(".")
    place = document
    for table in tables:
        inner = place.setdefault(table, {})
        if not isinstance(inner, dict):
            raise UserError(f"{by} {change}: {table!r} is a single setting and has nothing inside.")
        place = inner
    place[last] = _value(value)
    return key


def _value(text: str) -> Any:
    """As TOML would read it; what TOML can't read is a plain string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, KeyError, RecursionError):
        return text.strip()


def _sentence(error: ValidationError, origin: str, changed: Sequence[str], by: str) -> str:
    """The first thing wrong, in words."""
    errors = error.errors()
    first = max(
        (one for one in errors if one["loc"][:2] == errors[0]["loc"][:2]), key=lambda one: len(one["loc"])
    )  # of a setting with several forms, the form that came furthest
    place = _place(first["loc"], first["type"])
    key = ".".join(place.path)
    where = by if any(key == c or key.startswith(c + ".") for c in changed) else origin
    if first["type"] == UNKNOWN_SETTING:
        where = by if any(c.startswith(key + ".") for c in changed) else where  # a section nobody knows
        return f"{where}: unknown setting {key!r}{place.variant}.{_nearest_setting(place)}"
    if first["type"] == UNKNOWN_MEMBER:
        return f"{where}: {key}: {not_one_of(first['ctx']['tag'], place.known)}"
    if first["type"] == "value_error":
        subject = f"{key}: " if key else ""
        sentence = f"{where}: {subject}{first['ctx']['error']}"
        return sentence if sentence.endswith((".", "?")) else f"{sentence}."
    found = f", but found {_shown(first['input'])}" if first["type"] != "missing" else ""
    return f"{where}: {key}: {first['msg'].rstrip('.')}{found}."


def _shown(value: Any) -> str:
    try:
        shown = repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return "a number of thousands of digits"
    return shown if len(shown) <= 100 else f"{shown[:100]}..."


@dataclass(frozen=True)
class _Place:
    """A setting as people know it."""

    path: Sequence[str]
    known: Sequence[str]  # names in its section or, where a member is to be chosen, the members
    variant: str  # which member of a union its section is, in words


def _place(location: Sequence[str | int], problem: str) -> _Place:
    """pydantic names the members of unions in its location; people see settings only."""
    path: list[str] = []
    models: list[type[BaseModel]] = [Config]
    choice, variant = None, ""  # the setting that chooses a member, such as `name` of task
    for number, part in enumerate(location, start=1):
        if choice is not None:  # then this is the member that was chosen
            models = [model for model in models if part in _members(model, choice)]
            variant = f" where {'.'.join((*path, choice))} is {part!r}"
            choice = None
            continue
        found = [model.model_fields[part] for model in models if part in model.model_fields]
        if found:
            models = [model for field in found for model in _models_in(field.annotation)]
            choice = next((f.discriminator for f in found if isinstance(f.discriminator, str)), None)
        elif isinstance(part, str) and (problem != UNKNOWN_SETTING or number < len(location)):
            continue  # a member of a union without a choice, such as `TwoFiles`
        path.append(str(part))
    if choice is not None and problem == UNKNOWN_MEMBER:
        members = [str(name) for model in models for name in _members(model, choice)]
        return _Place([*path, choice], members, variant)
    return _Place(path, [name for model in models for name in model.model_fields], variant)


def _members(model: type[BaseModel], choice: str) -> tuple[Any, ...]:
    return get_args(model.model_fields[choice].annotation)


def _nearest_setting(place: _Place) -> str:
    prefix = ".".join(place.path[:-1])
    hint = did_you_mean(place.path[-1], place.known)
    return hint.replace("Did you mean '", f"Did you mean '{prefix}.") if prefix else hint


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in (Union, UnionType, Annotated, list):
        return [model for inner in get_args(annotation) for model in _models_in(inner)]
    return []
