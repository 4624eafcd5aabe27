"""What can be asked of a search by name."""

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, TypedDict, cast, get_args, get_type_hints

from regard.core.errors import UserError, did_you_mean
from regard.search.ranks import RANKS


class Options(TypedDict, total=False):
    """All can be left out, or None: then it is as the model's configuration says."""

    beam: int | None  # width; 1 is greedy
    best: int | None  # answers for each source
    penalty: str | None  # how lengths are compared: gnmt or average
    length_penalty: float | None  # its exponent; 0 compares log-probabilities as they are
    coverage: float | None  # how much it counts that something was not looked at
    min_length: int | None  # pieces
    max_length: int | None  # pieces
    min_ratio: float | None  # pieces for each piece of source
    max_ratio: float | None  # the same, plus 10
    end_threshold: float | None  # the end must be this many times as likely as the likeliest other piece
    no_repeat: int | None  # so many pieces in a row never come twice; 0 is no rule
    groups: int | None  # parts of the beam that avoid each other
    diversity: float | None  # how much they do
    sample: bool | None  # draw by chance instead of searching
    temperature: float | None
    top_k: int | None
    top_p: float | None
    min_p: float | None
    seed: int | None
    record: bool | None  # keep the tree of the beam
    likeliest: int | None  # keep so many of the likeliest next pieces for each step


Check = tuple[Callable[[Any], bool], str]
_COUNT: Check = (lambda value: 1 <= value <= 1000, "from 1 to 1000")
_WHOLE: Check = (lambda value: 0 <= value <= 10**6, "from 0 to a million")
_LENGTH: Check = (lambda value: 1 <= value <= 10**6, "from 1 to a million")
_AMOUNT: Check = (lambda value: 0 <= value <= 1000, "from 0 to 1000")
_EXPONENT: Check = (lambda value: 0 <= value <= 10, "from 0 to 10")  # of a length: beyond, no number holds it
_ABOVE: Check = (lambda value: 0 < value <= 1000, "above 0, at most 1000")
_SHARE: Check = (lambda value: 0 <= value <= 1, "from 0 to 1")
_SEED: Check = (lambda value: 0 <= value < 2**63, "from 0 to 2^63 - 1")
_CHECKS: dict[str, Check] = {
    "beam": _COUNT,
    "best": _COUNT,
    "penalty": (lambda value: value in RANKS, " or ".join(RANKS)),
    "length_penalty": _EXPONENT,
    "coverage": _AMOUNT,
    "min_length": _WHOLE,
    "max_length": _LENGTH,
    "min_ratio": _AMOUNT,
    "max_ratio": _ABOVE,
    "end_threshold": _AMOUNT,
    "no_repeat": _WHOLE,
    "groups": _COUNT,
    "diversity": _AMOUNT,
    "temperature": (lambda value: 1e-6 <= value <= 1000, "from 1e-6 to 1000"),  # below, its inverse overflows
    "top_k": _WHOLE,
    "top_p": (lambda value: 0 < value <= 1, "above 0, at most 1"),
    "min_p": _SHARE,
    "seed": _SEED,
    "likeliest": _WHOLE,
}


def parse(changes: Sequence[str]) -> Options:
    """From words such as `no_repeat=3`, as a command line has them."""
    options: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise UserError(
                f"{change!r} is no option of a search. Write it as NAME=VALUE, such as no_repeat=3."
            )
        options[name] = _read(_known(name), value)
    return cast(Options, options)


def _read(name: str, value: str) -> int | float | str | bool:
    (kind,) = (one for one in get_args(get_type_hints(Options)[name]) if one is not NoneType)
    if kind is bool:
        kind = {"true": True, "false": False}.__getitem__
    try:
        read: int | float | str | bool = kind(value)
    except (KeyError, ValueError):
        raise UserError(f"{name} can't be {value!r}.") from None
    return read


def _known(name: str) -> str:
    if name not in Options.__annotations__:
        raise UserError(f"A search has no option {name!r}.{did_you_mean(name, Options.__annotations__)}")
    return name


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for; a UserError for what there is not, or what cannot be."""
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if _known(name) in _CHECKS and not _CHECKS[name][0](value):
            raise UserError(f"{name} is {value}, but must be {_CHECKS[name][1]}.")
    return given
