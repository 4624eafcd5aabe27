"""What a command line says of several configurations: `--vary key=a,b,c` and `--budget steps=2000`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from regard.config import Config
from regard.core.errors import UserError

SEED = "training.seed"
BUDGETS = ("steps", "tokens", "minutes")
UNLIMITED = 10**12  # steps, where something else is counted
_OPENING, _CLOSING = "[{", "]}"


@dataclass(frozen=True)
class Variation:
    """One setting and the values it is to have in turn, as TOML would read them."""

    key: str
    values: tuple[str, ...]


def parse_variation(text: str) -> Variation:
    """`model.attention.score=none,dot,additive`; commas inside of brackets and quotes do not separate."""
    key, equals, values = text.partition("=")
    found = tuple(split_values(values))
    if not equals or not key.strip() or not all(found):
        raise UserError(f"--vary {text}: expected key=value,value, such as training.seed=1,2,3.")
    if len(set(found)) < len(found):
        twice = next(value for value in found if found.count(value) > 1)
        raise UserError(f"--vary {text}: the value {twice} comes twice. Leave it out once.")
    return Variation(key.strip(), found)


def parse_variations(texts: Sequence[str]) -> list[Variation]:
    variations = [parse_variation(text) for text in texts]
    check_once("--vary", [variation.key for variation in variations])
    return variations


def check_once(option: str, keys: Sequence[str]) -> None:
    for key in keys:
        if keys.count(key) > 1:
            raise UserError(f"{option} {key} is given twice. Give all its values at once, with commas.")


def split_values(text: str) -> list[str]:
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in _OPENING or letter in _CLOSING:
            depth += 1 if letter in _OPENING else -1
        if letter == "," and not quote and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def combinations(variations: Sequence[Variation]) -> list[dict[str, str]]:
    """Every value of each with every value of the others; the last one changes fastest."""
    keys = [variation.key for variation in variations]
    return [dict(zip(keys, values, strict=True)) for values in product(*(one.values for one in variations))]


def called(combination: Mapping[str, str]) -> str:
    """`score=dot, width=64`: each key by as much of its end as tells it from the others. A seed is no name."""
    keys = [key for key in combination if key != SEED]
    return ", ".join(f"{_short(key, keys)}={_bare(combination[key])}" for key in keys)


def _short(key: str, keys: Sequence[str]) -> str:
    parts = key.split(".")
    for length in range(1, len(parts)):
        end = ".".join(parts[-length:])
        if sum(other == end or other.endswith(f".{end}") for other in keys) == 1:
            return end
    return key


def _bare(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def budget_changes(text: str | None) -> list[str]:
    """`minutes=20` as settings: what is not counted does not end a training."""
    if text is None:
        return []
    kind, _, amount = text.partition("=")
    try:
        size = float(amount)
    except ValueError:
        size = 0.0
    if kind not in BUDGETS or not 0 < size < UNLIMITED or (kind != "minutes" and size != int(size)):
        raise UserError(f"--budget {text}: expected steps=2000, tokens=2e6 or minutes=20.")
    steps = int(size) if kind == "steps" else UNLIMITED  # and `limited_alone` takes other limits away
    counted = {"tokens": str(int(size)), "minutes": repr(size)}
    others = [f"training.{kind}={counted[kind]}"] if kind != "steps" else []
    return [f"training.steps={steps}", *others]


def limited_alone(config: Config, changes: Sequence[str]) -> Config:
    """Without the limits of its own that none of the changes has asked for."""
    asked = {change.partition("=")[0].strip() for change in changes}
    limits = ("tokens", "minutes", "patience")  # steps are part of every budget
    lifted = {kind: None for kind in limits if f"training.{kind}" not in asked}
    return config.model_copy(update={"training": config.training.model_copy(update=lifted)})
