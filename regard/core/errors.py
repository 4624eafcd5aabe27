"""The one exception that is meant for people."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Something the person can mend: says where it is, what was found and what to do.

    The command line prints its sentence and exits with 2. A mistake of our own is an `assert`.
    """


class TooLongError(UserError):
    """A model has no room for so much; of several sources, another one may fit."""


def sentence(said: str) -> str:
    """With an end of its own, or with a full stop."""
    return said if said.endswith((".", "?", "!")) else f"{said}."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`" Did you mean 'x'?"` for the nearest known word, or the list of them when none is near."""
    known = list(known)
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f" Did you mean {near[0]!r}?"
    return f" Known: {', '.join(sorted(known))}." if known else ""
