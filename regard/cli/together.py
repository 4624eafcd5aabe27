"""Several processes of one command that speak with one voice."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from regard.cli.console import notes

if TYPE_CHECKING:
    from regard.training import Ranks


@contextmanager
def together() -> Iterator["Ranks"]:
    """The processes that torchrun started, or this one alone. The first is heard; an error is, from whomever, once."""
    from regard.training import joined

    with joined() as ranks:
        _hush(not ranks.is_first)
        try:
            yield ranks
        except Exception as error:
            _hush(not ranks.may_say(error))
            raise


def _hush(quiet: bool) -> None:
    notes.quiet = quiet
    logging.getLogger("regard").disabled = quiet
