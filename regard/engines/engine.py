"""What answers in the place of a model and a search: encoder, decoder and search in one."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from regard.search import Found, Question


class Engine(Protocol):
    """It records no attention and keeps no rules: `refusal` says what else it does not do."""

    name: str
    parameters: int  # numbers that were learned

    def refusal(self, plan: Any) -> str | None:
        """Why it can't search by this plan, as a sentence's end; None if it can."""
        ...

    def beyond(self, read: Any, question: Question, plan: Any) -> str | None:
        """Why it has no room for this one, as a sentence; None if it has."""
        ...

    def __call__(
        self, reads: Sequence[Any], questions: Sequence[Question], plan: Any
    ) -> Iterator[tuple[int, Found]]:
        """The best hypotheses for each source that was read, by its number, in the order in which they are found."""
        ...
