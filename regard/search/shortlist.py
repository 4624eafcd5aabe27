"""Shortlists: the pieces among which an answer to a source is searched, instead of all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from regard.core.pieces import PAD, SPECIAL_PIECES
from regard.core.state import State, StepOutput
from regard.search.hypothesis import Found, Likeliest
from regard.search.question import Question
from regard.search.stepper import Stepper
from regard.search.tree import Tree

_STEP = 256  # numbers of pieces are multiples of it: oneDNN makes a program for every other width of a matrix


@dataclass(frozen=True)
class Shortlist:
    """What each source piece probably becomes, and what answers often have whatever the source is."""

    likely: Tensor  # V K, target pieces; -1 where there are fewer
    common: Tensor  # N, target pieces

    def to(self, device: torch.device) -> "Shortlist":
        return Shortlist(self.likely.to(device), self.common.to(device))

    def of(self, sources: Tensor, mask: Tensor) -> "Shortened":
        """For sources (B S) of which some places (B S) hold pieces."""
        always = torch.cat([torch.arange(len(SPECIAL_PIECES), device=sources.device), self.common])
        likely = self.likely[sources].masked_fill(~mask[..., None], -1).flatten(1)  # B S*K
        likely = torch.cat([likely, always.expand(len(sources), -1)], dim=1)
        own = torch.zeros(len(sources), int(likely.max()) + 2, dtype=torch.bool, device=sources.device)
        own.scatter_(1, likely + 1, value=True)  # B 1+V, the first for what is none
        pieces = own[:, 1:].any(0).nonzero()[:, 0]  # N, rising
        allowed = own[:, 1:][:, pieces]  # B N
        never = torch.zeros(allowed.shape, device=allowed.device).masked_fill(~allowed, -torch.inf)
        spare = -len(pieces) % _STEP
        return Shortened(
            functional.pad(pieces, (0, spare), value=PAD), functional.pad(never, (0, spare), value=-torch.inf)
        )


@dataclass(frozen=True)
class Shortened:
    """The pieces of all sources of a batch under numbers of their own. The marks keep theirs, as they come first."""

    pieces: Tensor  # N, rising; nobody's, to fill up, at the end
    never: Tensor  # B N, zero for a source's own pieces and -inf for others': nobody's answer depends on them

    def asked(self, question: Question) -> Question:
        """Whoever hears of the answer meanwhile hears the usual numbers."""
        hear = question.watch.hear
        if hear is None:
            return question
        return replace(question, watch=replace(question.watch, hear=lambda tokens: hear(self._usual(tokens))))

    def back(self, found: Found) -> Found:
        """What was found, in the usual numbers."""
        return Found(
            tuple(
                replace(
                    one,
                    tokens=tuple(self._usual(one.tokens)),
                    likeliest=tuple(self._usual_of(step) for step in one.likeliest),
                )
                for one in found.hypotheses
            ),
            found.tree
            and Tree([replace(node, piece=self._usual([node.piece])[0]) for node in found.tree.nodes]),
        )

    def _usual(self, tokens: Sequence[int]) -> list[int]:
        return self.pieces[list(tokens)].tolist() if tokens else []

    def _usual_of(self, step: Likeliest) -> Likeliest:
        pieces = self._usual([piece for piece, _ in step])
        return tuple(zip(pieces, (score for _, score in step), strict=True))


@dataclass(frozen=True)
class _ShortState:
    inner: State
    owners: Tensor  # rows, the source of each

    def select(self, rows: Tensor) -> "_ShortState":
        return _ShortState(self.inner.select(rows), self.owners[rows])


class ShortStepper:
    """A stepper that says logits of the short pieces alone, and is told such pieces."""

    def __init__(self, stepper: Stepper[Any], short: Shortened):
        """The stepper must be told the usual numbers and say the short ones."""
        self.stepper = stepper
        self.short = short

    def begin(self, source: Any) -> _ShortState:
        return _ShortState(
            self.stepper.begin(source), torch.arange(len(self.short.never), device=self.short.never.device)
        )

    def step(self, tokens: Tensor, state: _ShortState) -> StepOutput[_ShortState]:
        output = self.stepper.step(self.short.pieces[tokens], state.inner)
        said = output.logits + self.short.never[state.owners]  # rows N
        return StepOutput(said, output.attention, _ShortState(output.state, state.owners), output.loads)
