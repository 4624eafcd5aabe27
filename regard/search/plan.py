"""Which search, and how far it may go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from regard.core.errors import UserError
from regard.core.pieces import BEGIN, END, PAD, UNKNOWN
from regard.search.beam import Groups, beam
from regard.search.ensemble import Ensemble
from regard.search.frame import Frame
from regard.search.greedy import greedy
from regard.search.hypothesis import Found
from regard.search.options import checked
from regard.search.question import Question
from regard.search.ranks import RANKS, Coverage
from regard.search.rules import NoRepeat, Rules
from regard.search.sampling import Draw, sample
from regard.search.stepper import Stepper

_OF_DRAWS = ("temperature", "top_k", "top_p", "min_p")
_OF_GROUPS = {"groups": "count", "diversity": "strength"}
FEWEST_FOR_PHRASES = 5  # a narrower beam puts required phrases off until nothing else is allowed


@dataclass(frozen=True)
class SearchPlan:
    beam: int = 1
    best: int = 1  # answers for each source
    penalty: str = "gnmt"  # how lengths are compared
    length_penalty: float = 0.0
    coverage: float = 0.0
    min_length: int = 0  # pieces without the end mark
    min_ratio: float = 0.0  # pieces of answer for each piece of source
    max_length: int = 200
    max_ratio: float = 3.0  # pieces of answer for each piece of source, plus 10
    end_threshold: float = 0.0
    no_repeat: int = 0
    unknown: bool = True  # an answer may say that a word is unknown
    groups: Groups = field(default_factory=Groups)
    draw: Draw | None = None  # sampling, instead of searching for the best
    seed: int = 1  # of sampling
    record: bool = False  # keep the tree of the beam
    likeliest: int = 0  # keep so many of the likeliest next pieces for each step

    tells: ClassVar[tuple[str, ...]] = ("beam", "alternatives")

    @property
    def rows(self) -> int:
        """Hypotheses that are alive at the same time for each source, at the most."""
        return self.best if self.draw else max(self.beam, self.best)

    def __call__(
        self, stepper: Stepper[Any], source: Any, questions: Sequence[Question], mask: Tensor
    ) -> list[Found]:
        """The best hypotheses for each row; none where no answer could keep its rules.

        `mask` (B S) is where source pieces stand. How far a row may go depends on its own length alone.
        """
        frame = self.frame(questions, mask.device)
        rank = RANKS[self.penalty](self.length_penalty)
        if self.draw is not None:
            names = [question.name for question in questions]
            return sample(
                stepper,
                source,
                frame,
                draw=self.draw,
                names=names,
                samples=self.best,
                seed=self.seed,
                rank=rank,
            )
        if self.rows == 1 and not self.record:
            return greedy(stepper, source, frame, rank=rank)
        width = self.rows + -self.rows % self.groups.count
        coverage = (Coverage(self.coverage), mask) if self.coverage else None
        return beam(
            stepper,
            source,
            frame,
            width=width,
            best=self.best,
            rank=rank,
            coverage=coverage,
            groups=self.groups,
            record=self.record,
        )

    def changed(self, options: Mapping[str, Any]) -> "SearchPlan":
        """The plan with what was asked for instead; a UserError for what makes no sense."""
        given = checked(options)
        draws = {name: given.pop(name) for name in _OF_DRAWS if name in given}
        groups = {own: given.pop(name) for name, own in _OF_GROUPS.items() if name in given}
        if given.pop("sample", False):
            given["draw"] = replace(self.draw or Draw(), **draws)
        elif draws:
            raise UserError(f"{next(iter(draws))} is for sampling: ask for sampling too.")
        plan = replace(self, groups=replace(self.groups, **groups), **given)
        if plan.draw is not None and (plan.record or plan.groups.count > 1):
            raise UserError("Sampling has no beam: leave out its groups and its record.")
        return plan

    @property
    def told(self) -> str:
        if self.draw is not None:
            return "sampling"
        return f"beam {self.rows}" if self.rows > 1 else "greedy search"

    @property
    def longest(self) -> int:
        return self.max_length

    def short(self) -> "SearchPlan":
        return replace(self, max_length=2, min_length=0, min_ratio=0.0)

    def quick(self) -> "SearchPlan":
        return replace(self, beam=1, best=1, draw=None)

    def together(self, steppers: Sequence[Stepper[Any]], space: str) -> Ensemble:
        return Ensemble(steppers, space=space)

    def suited(self, question: Question) -> "SearchPlan":
        """For a question that requires phrases, wide enough to get on with them. Only its own rules count."""
        if self.draw is not None or all(rule.progress is None for rule in question.rules):
            return self
        return replace(self, beam=max(self.rows, FEWEST_FOR_PHRASES))

    def frame(self, questions: Sequence[Question], device: torch.device) -> Frame:
        repeats: Rules = (NoRepeat(self.no_repeat),) if self.no_repeat else ()
        least = [self.least(question) for question in questions]
        return Frame(
            torch.tensor([self.limit(question) for question in questions], device=device),
            BEGIN,
            END,
            never=(PAD, BEGIN) if self.unknown else (PAD, BEGIN, UNKNOWN),
            least=torch.tensor(least, device=device) if any(least) else None,
            rules=[(*question.rules, *repeats) for question in questions],
            end_threshold=self.end_threshold,
            watches=[question.watch for question in questions],
            likeliest=self.likeliest,
        )

    def limit(self, question: Question) -> int:
        """The greatest number of pieces in the answer, the end mark included.

        What an answer has to begin with does not count.
        """
        forced = sum(rule.forced for rule in question.rules)
        own = max(1, int(min(question.length * self.max_ratio + 10, self.max_length)))
        return forced + max(own, self.least(question) + 1)

    def least(self, question: Question) -> int:
        """The smallest number of pieces in the answer, the end mark not counted."""
        return max(self.min_length, int(question.length * self.min_ratio))

    def impossible(self, question: Question) -> str | None:
        """Why no answer can keep the question's rules, where that is plain before the search."""
        room = self.limit(question)
        return next((why for rule in question.rules if (why := rule.impossible(room))), None)
