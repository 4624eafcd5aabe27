"""What can be asked of a search by name."""

from collections.abc import Callable, Collection, Mapping, Sequence
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
    unknown: bool | None  # an answer may say that a word is unknown
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
_EITHER: Check = (lambda value: True, "True or False")
_SEED: Check = (lambda value: 0 <= value < 2**63, "from 0 to 2^63 - 1")
CHECKS: dict[str, Check] = {
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
    "unknown": _EITHER,
    "groups": _COUNT,
    "diversity": _AMOUNT,
    "sample": _EITHER,
    "temperature": (lambda value: 1e-6 <= value <= 1000, "from 1e-6 to 1000"),  # below, its inverse overflows
    "top_k": _WHOLE,
    "top_p": (lambda value: 0 < value <= 1, "above 0, at most 1"),
    "min_p": _SHARE,
    "seed": _SEED,
    "record": _EITHER,
    "likeliest": _WHOLE,
}

_KINDS: dict[str, type] = {
    name: next(one for one in get_args(hint) if one is not NoneType)
    for name, hint in get_type_hints(Options).items()
}
_WORDS = {int: "a whole number ", float: "a number ", str: "", bool: ""}  # before what it must be


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
    kind = _KINDS[name]
    read_as = {"true": True, "false": False}.__getitem__ if kind is bool else kind
    try:
        read: int | float | str | bool = read_as(value)
    except (KeyError, ValueError):
        raise UserError(f"{name} can't be {value!r}.") from None
    return read


def _known(name: str, names: Collection[str] = CHECKS, of: str = "A search") -> str:
    if name not in names:
        raise UserError(f"{of} has no option {name!r}.{did_you_mean(name, names)}")
    return name


def checked(
    options: Mapping[str, Any], checks: Mapping[str, Check] = CHECKS, *, of: str = "A search"
) -> dict[str, Any]:
    """What was asked for; a UserError for what there is not, or what cannot be."""
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        fits, what = checks[_known(name, checks, of)]
        kind = _KINDS[name]
        if not _is(value, kind):
            raise UserError(f"{name} is {value!r}, but must be {_WORDS[kind]}{what}.")
        if not fits(value):
            raise UserError(f"{name} is {value}, but must be {what}.")
    return given


def _is(value: Any, kind: type) -> bool:
    """A whole number will do for a number; True is none, though Python counts it among them."""
    own = type(value)
    if bool in (own, kind):
        return own is kind
    return issubclass(own, (int, float) if kind is float else kind)
