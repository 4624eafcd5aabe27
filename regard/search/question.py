"""What is asked."""

from dataclasses import dataclass

from regard.search.rules import Rules
from regard.search.watch import NOBODY, Watch


@dataclass(frozen=True)
class Question:
    """One source, as far as a search has to know it."""

    length: int  # positions that can be looked at
    name: bytes = b""  # what its draws depend on: itself, wherever it stands
    rules: Rules = ()
    watch: Watch = NOBODY
    steps: int | None = None  # of an answer that has a length of its own
