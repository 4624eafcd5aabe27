from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from tables import TableState, TableStepper
from torch import Tensor

from regard.core.pieces import END
from regard.core.state import StepOutput
from regard.search import (
    Draw,
    Ensemble,
    Found,
    Question,
    SearchPlan,
    Shortened,
    Shortlist,
    ShortStepper,
    Watch,
)

VOCABULARY = 9
SOURCES = torch.tensor([[4, 5, 0], [6, 7, 8], [5, 0, 0]])
MASK = SOURCES > 0
LIKELY = torch.full((VOCABULARY, 2), -1)
LIKELY[4] = torch.tensor([8, 5])
LIKELY[5] = torch.tensor([4, -1])
LIKELY[6] = torch.tensor([5, 6])
LIKELY[7] = torch.tensor([6, -1])
SHORTLIST = Shortlist(LIKELY, torch.tensor([7]))
OWN = [{0, 1, 2, 3, 4, 5, 7, 8}, {0, 1, 2, 3, 5, 6, 7}, {0, 1, 2, 3, 4, 7}]
PLANS = {
    "greedy": SearchPlan(max_length=5),
    "beam": SearchPlan(max_length=5, beam=4, best=3, length_penalty=0.6, likeliest=3),
    "recorded": SearchPlan(max_length=5, beam=3, record=True),
    "no_repeat": SearchPlan(max_length=5, beam=3, no_repeat=1),
    "sampling": SearchPlan(max_length=5, best=2, draw=Draw()),
}


class Narrow:
    """A table that says some pieces alone, as a decoder with a narrow head does."""

    def __init__(self, table: TableStepper, short: Shortened):
        self.table = table
        self.short = short

    def begin(self, source: Tensor) -> TableState:
        return self.table.begin(source)

    def step(self, tokens: Tensor, state: TableState) -> StepOutput[TableState]:
        output = self.table.step(tokens, state)
        return replace(output, logits=output.logits[:, self.short.pieces])


class Masked:
    """A table that finds impossible what is not in the source's list."""

    def __init__(self, table: TableStepper):
        self.table = table
        self.never = torch.full((len(OWN), VOCABULARY), -torch.inf)
        for row, own in enumerate(OWN):
            self.never[row, sorted(own)] = 0

    def begin(self, source: Tensor) -> TableState:
        return self.table.begin(source)

    def step(self, tokens: Tensor, state: TableState) -> StepOutput[TableState]:
        output = self.table.step(tokens, state)
        return replace(output, logits=output.logits + self.never[state.rows])


def found(plan: SearchPlan, rows: Sequence[int], questions: Sequence[Question] = ()) -> list[Found]:
    table = TableStepper.random(len(SOURCES), VOCABULARY, seed=3)
    short = SHORTLIST.of(SOURCES[list(rows)], MASK[list(rows)])
    asked = [short.asked(one) for one in questions or [Question(3, bytes([row])) for row in rows]]
    stepper = ShortStepper(Narrow(table, short), short)
    return [short.back(one) for one in plan(stepper, torch.tensor(rows), asked, MASK[list(rows)])]


def plain(found: Found) -> list[Any]:
    return [
        [(one.tokens, pytest.approx(one.score, abs=1e-5), one.finished) for one in found.hypotheses],
        [[(piece, pytest.approx(p, abs=1e-5)) for piece, p in step if p > -1e9] for step in _steps(found)],
        [(node.parent, node.piece, node.fate) for node in found.tree.nodes] if found.tree else None,
    ]


def _steps(found: Found) -> list[Any]:
    return [step for one in found.hypotheses for step in one.likeliest]


def test_a_source_has_the_marks_the_common_pieces_and_those_of_its_own_pieces() -> None:
    short = SHORTLIST.of(SOURCES, MASK)
    every = sorted(set.union(*OWN))
    assert short.pieces.tolist() == every + [0] * (256 - len(every))  # filled up with what nobody says
    for row, own in enumerate(OWN):
        assert sorted(short.pieces[short.never[row] == 0].tolist()) == sorted(own)
        assert short.never[row].isinf().sum() == len(short.pieces) - len(own)


@pytest.mark.parametrize("name", PLANS)
def test_answers_are_those_of_a_model_that_finds_all_other_pieces_impossible(name: str) -> None:
    masked = Masked(TableStepper.random(len(SOURCES), VOCABULARY, seed=3))
    questions = [Question(3, bytes([row])) for row in range(3)]
    expected = PLANS[name](masked, torch.arange(3), questions, MASK)
    for one, other in zip(expected, found(PLANS[name], range(3)), strict=True):
        assert plain(other) == plain(one)


@pytest.mark.parametrize("name", PLANS)
def test_an_answer_does_not_depend_on_the_lists_of_neighbours(name: str) -> None:
    together = found(PLANS[name], range(3))
    for row in range(3):
        assert plain(found(PLANS[name], [row])[0]) == plain(together[row])


@pytest.mark.parametrize("space", ["probability", "log"])
def test_an_ensembles_answer_does_not_depend_on_the_lists_of_neighbours(space: str) -> None:
    tables = [TableStepper.random(len(SOURCES), VOCABULARY, seed=seed) for seed in (3, 4)]

    def together(rows: list[int]) -> list[Any]:
        short = SHORTLIST.of(SOURCES[rows], MASK[rows])
        members = Ensemble([ShortStepper(Narrow(table, short), short) for table in tables], space=space)
        questions, sources = [Question(3)] * len(rows), [torch.tensor(rows)] * 2
        return [plain(short.back(one)) for one in PLANS["beam"](members, sources, questions, MASK[rows])]

    every = together([0, 1, 2])
    assert [together([row])[0] for row in range(3)] == every


def test_who_hears_of_an_answer_hears_the_usual_numbers() -> None:
    heard: list[list[int]] = []
    question = Question(3, watch=Watch(hear=lambda pieces: heard.append(list(pieces))))
    (one,) = found(SearchPlan(max_length=5), [1], [question])
    assert tuple(heard[-1]) == one.hypotheses[0].tokens
    assert END in heard[-1] or len(heard) == 5
