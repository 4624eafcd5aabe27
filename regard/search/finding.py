"""What a predictor asks of a way to find answers, whatever the answers are."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor

from regard.search.question import Question


class Finder(Protocol):
    """A search over pieces, or a rollout of points."""

    @property
    def best(self) -> int:
        """Answers for each source."""
        ...

    @property
    def rows(self) -> int:
        """That are alive at the same time for each source, at the most."""
        ...

    @property
    def draw(self) -> Any:
        """How answers are drawn by chance; None: they are not."""
        ...

    @property
    def coverage(self) -> float:
        """Whether it matters where a model looked."""
        ...

    def changed(self, options: Mapping[str, Any]) -> "Finder":
        """With what was asked for instead; a UserError for what makes no sense."""
        ...

    @property
    def tells(self) -> tuple[str, ...]:
        """What it can tell of its way besides the answers: its beam, the alternatives of each step."""
        ...

    @property
    def told(self) -> str:
        """For people, such as `beam 5`."""
        ...

    @property
    def longest(self) -> int:
        """Pieces or points of an answer, at the most."""
        ...

    def least(self, question: Question) -> int:
        """Pieces or points that an answer has at least."""
        ...

    def short(self) -> "Finder":
        """Of the shortest answers, to see that a model works."""
        ...

    def quick(self) -> "Finder":
        """With the least effort, to see how a training goes."""
        ...

    def suited(self, question: Question) -> "Finder":
        """To a question that needs more."""
        ...

    def impossible(self, question: Question) -> str | None:
        """Why there can be no answer, where that is plain before the search."""
        ...

    def together(self, steppers: Sequence[Any], space: str) -> Any:
        """Several models as one."""
        ...

    def __call__(self, stepper: Any, source: Any, questions: Sequence[Question], mask: Tensor) -> list[Any]:
        """For each question what was found, best first. `mask` (B S) is where source positions stand."""
        ...
