"""Rollout: a series goes on by the points that the model itself said before."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.core.batch import UNKNOWN_VALUE
from regard.core.errors import UserError
from regard.core.state import Looks, State
from regard.search.looks import along
from regard.search.options import CHECKS, Check, checked
from regard.search.point_ensemble import PointEnsemble
from regard.search.question import Question
from regard.search.sampling import Draw, chances_of
from regard.search.stepper import PointStepper, SaysPoints, check_numbers
from regard.search.tree import Tree


@dataclass(frozen=True)
class Course:
    """An answer of a rollout."""

    points: NDArray[np.float32] = field(repr=False)  # T D, in the model's own measure
    score: float  # log-likelihood of all its points
    rank: float
    finished: bool  # always: it is as long as was asked for
    attention: Mapping[str, Tensor] = field(repr=False)  # kind -> layers, heads, target, source
    steps: tuple[float, ...] = field(default=(), repr=False)  # log-likelihood of each point


@dataclass(frozen=True)
class Rolled:
    """What a rollout gave for one source."""

    hypotheses: tuple[Course, ...]  # none, where nobody waits for it any more
    tree: Tree | None = None  # there is none: nothing was weighed against anything


@dataclass(frozen=True)
class Rollout:
    """A plan: so many steps, and how many courses.

    The first course takes the expected point at every step, and `best - 1` others draw theirs by chance. With a
    `draw` all of them are drawn, the likeliest first.
    """

    steps: int = 12
    best: int = 1  # courses for each source
    draw: Draw | None = None  # its temperature alone counts
    seed: int = 1

    coverage = 0.0
    tells: ClassVar[tuple[str, ...]] = ()  # nothing is weighed against anything

    def __post_init__(self) -> None:
        if self.draw is not None and replace(self.draw, temperature=1.0) != Draw():
            raise UserError("Points are drawn with a temperature alone: leave out top_k, top_p and min_p.")

    @property
    def rows(self) -> int:
        """Courses that go on at the same time for each source."""
        return self.best

    @property
    def told(self) -> str:
        drawn = "" if self.draw is None else ", drawn"
        return f"{self.steps} steps{drawn}" + (f", {self.best} courses" if self.best > 1 else "")

    @property
    def longest(self) -> int:
        return self.steps

    def least(self, question: Question) -> int:
        return 0

    def short(self) -> "Rollout":
        return replace(self, steps=2)

    def quick(self) -> "Rollout":
        return replace(self, best=1, draw=None)

    def together(self, steppers: Sequence[PointStepper[Any]], space: str) -> PointEnsemble:
        """The members' points are averaged, in whatever space others average."""
        return PointEnsemble(steppers)

    def suited(self, question: Question) -> "Rollout":
        return self

    def impossible(self, question: Question) -> str | None:
        return None

    def limit(self, question: Question) -> int:
        """The number of points in the answer."""
        return self.steps if question.steps is None else question.steps

    def changed(self, options: Mapping[str, Any]) -> "Rollout":
        """The plan with what was asked for instead; a UserError for what makes no sense."""
        given = checked(options, _CHECKS, of="A rollout")
        if "max_length" in given:
            given["steps"] = given.pop("max_length")
        temperature, sample = given.pop("temperature", None), given.pop("sample", False)
        if temperature is not None and not sample:
            raise UserError("temperature is for sampling: ask for sampling too.")
        if sample:
            given["draw"] = replace(self.draw or Draw(), temperature=temperature or 1.0)
        return replace(self, **given)

    def __call__(
        self, stepper: PointStepper[Any], source: Any, questions: Sequence[Question], mask: Tensor
    ) -> list[Rolled]:
        """The courses of each source, each as long as its own question asks. `mask` tells where to compute."""
        head, device = stepper.head, mask.device
        if not head.draws and (self.best > 1 or self.draw is not None):
            raise UserError(
                "This model says one point and not how likely others are, so there is nothing to draw and no second "
                'future. Train one with model.points.kind = "gaussian" or "mixture".'
            )
        owners = [number for number in range(len(questions)) for _ in range(self.best)]  # of each walker
        limits = [self.limit(question) for question in questions]
        chances = self._chances(questions, max(limits), head.size, device)  # walkers T (1 + D)
        state: State = stepper.begin(source)
        if self.best > 1:
            state = state.select(torch.tensor(owners, device=device))
        fed = torch.full((len(owners), head.size), UNKNOWN_VALUE, device=device)
        alive = list(range(len(owners)))  # rows: which walker each is
        log = _Log()
        for length in range(1, max(limits) + 1):
            output = stepper.step(fed, state)
            points = self._next(head, output.logits, chances[alive, length - 1], alive)  # rows D
            scores = head.log_probability(output.logits, points)  # rows
            _check(points, scores)
            log.step(alive, points, scores, output.attention)
            kept = self._going_on(questions, owners, alive, log, length, limits)
            if not kept:
                break
            state, fed = output.state, points
            if len(kept) < len(alive):
                rows = torch.tensor(kept, device=device)
                state, fed, alive = state.select(rows), fed[rows], [alive[row] for row in kept]
        return [self._rolled(number, limits[number], log) for number in range(len(questions))]

    def _chances(self, questions: Sequence[Question], steps: int, size: int, device: torch.device) -> Tensor:
        """For each walker and step one number between 0 and 1 for what kind of point, and one for each value."""
        drawn = [
            chances_of(self.seed, question.name, number, steps * (1 + size)).reshape(steps, 1 + size)
            for question in questions
            for number in range(self.best)
        ]
        return torch.tensor(np.stack(drawn), device=device)

    def _next(self, head: SaysPoints, said: Tensor, chances: Tensor, alive: Sequence[int]) -> Tensor:
        if self.draw is not None:
            return head.pick(said, chances, self.draw.temperature)
        points = head.expected(said)
        if self.best == 1:
            return points
        first = torch.tensor([walker % self.best == 0 for walker in alive], device=said.device)
        return torch.where(first[:, None], points, head.pick(said, chances))

    def _going_on(
        self,
        questions: Sequence[Question],
        owners: Sequence[int],
        alive: Sequence[int],
        log: "_Log",
        length: int,
        limits: Sequence[int],
    ) -> list[int]:
        """The rows that have not come to their end and that somebody waits for. Who listens is told."""
        wanted = {number: questions[number].watch.wanted() for number in {owners[walker] for walker in alive}}
        kept = []
        for row, walker in enumerate(alive):
            number = owners[walker]
            hear = questions[number].watch.hear
            if not wanted[number]:
                log.given_up.add(number)
                continue
            if hear and (self.best == 1 or (self.draw is None and walker % self.best == 0)):
                hear(log.points(walker, length).tolist())
            if length < limits[number]:
                kept.append(row)
        return kept

    def _rolled(self, number: int, length: int, log: "_Log") -> Rolled:
        if number in log.given_up:
            return Rolled(())
        walkers = range(number * self.best, (number + 1) * self.best)
        courses = [log.course(walker, length) for walker in walkers]
        if self.draw is not None:
            courses.sort(key=lambda course: -course.score)
        return Rolled(tuple(courses))


_CHECKS: dict[str, Check] = {  # what it knows of the options of a search
    "max_length": (lambda value: 1 <= value <= 100_000, "from 1 to 100000"),
    **{name: CHECKS[name] for name in ("best", "seed", "sample", "temperature")},
}


class _Log:
    """What was said at each step, by row, and which walker each row was."""

    def __init__(self) -> None:
        self.given_up: set[int] = set()  # sources
        self._rows: list[dict[int, int]] = []  # per step: walker -> row
        self._points: list[Tensor] = []
        self._scores: list[list[float]] = []
        self._looks: list[Looks] = []

    def step(self, alive: Sequence[int], points: Tensor, scores: Tensor, looks: Looks) -> None:
        self._rows.append({walker: row for row, walker in enumerate(alive)})
        self._points.append(points)
        self._scores.append(scores.tolist())
        self._looks.append(looks)

    def points(self, walker: int, length: int) -> NDArray[np.float32]:
        said = [self._points[at][self._rows[at][walker]] for at in range(length)]
        return torch.stack(said).float().cpu().numpy()

    def course(self, walker: int, length: int) -> Course:
        path = [(self._looks[at], self._rows[at][walker]) for at in range(length)]
        steps = tuple(self._scores[at][self._rows[at][walker]] for at in range(length))
        score = math.fsum(steps)
        return Course(self.points(walker, length), score, score, True, along(path), steps)


def _check(points: Tensor, scores: Tensor) -> None:
    fine = points.isfinite().all() & scores.isfinite().all()
    check_numbers([0.0 if bool(fine) else math.nan])
