"""What every search owes to any stepper."""

from collections.abc import Callable

import pytest
import torch
from tables import TableState, TableStepper

from regard.core.errors import UserError
from regard.core.state import StepOutput
from regard.search import Draw, Frame, Hypothesis, beam, greedy, hypothesis, sample

BEGIN, END = 0, 1

Search = Callable[[TableStepper, torch.Tensor], list[Hypothesis]]


def by_greedy(stepper: TableStepper, limits: torch.Tensor) -> list[Hypothesis]:
    found = greedy(stepper, torch.arange(len(limits)), Frame(limits, BEGIN, END))
    return [one.hypotheses[0] for one in found]


def by_beam(stepper: TableStepper, limits: torch.Tensor) -> list[Hypothesis]:
    found = beam(stepper, torch.arange(len(limits)), Frame(limits, BEGIN, END), width=2)
    return [one.hypotheses[0] for one in found]


def by_sampling(stepper: TableStepper, limits: torch.Tensor) -> list[Hypothesis]:
    names = [bytes([number]) for number in range(len(limits))]
    frame, coldest = Frame(limits, BEGIN, END), Draw(top_k=1)
    found = sample(stepper, torch.arange(len(limits)), frame, draw=coldest, names=names)
    return [one.hypotheses[0] for one in found]


every = pytest.mark.parametrize("search", [by_greedy, by_beam, by_sampling])


@every
@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("source", [0, 2])
def test_a_model_that_gives_no_numbers_is_refused(search: Search, value: float, source: int) -> None:
    stepper = TableStepper.random(3, vocabulary=5, seed=1)
    stepper.tables[..., END] = -9.0  # so that nothing ends at once
    stepper.tables[source, :, 1:, 3] = value  # from the second step on
    stepper.tables[source, 0, 0, 3] = value
    with pytest.raises(UserError, match="gives no numbers"):
        search(stepper, torch.tensor([6, 6, 6]))


@every
def test_scores_are_summed_in_float32_whatever_the_model_computes_in(search: Search) -> None:
    class Half(TableStepper):
        def step(self, tokens: torch.Tensor, state: TableState) -> StepOutput[TableState]:
            output = super().step(tokens, state)
            return StepOutput(output.logits.bfloat16(), output.attention, output.state)

    stepper = Half(torch.zeros(1, 3, 3, 3))
    stepper.tables[:] = torch.tensor([0.0, -9.0, 1.0])
    (answer,) = search(stepper, torch.tensor([50]))
    expected = 1.0 - torch.tensor([0.0, -9.0, 1.0], dtype=torch.float64).exp().sum().log()
    assert answer.tokens == (2,) * 50
    assert answer.score == pytest.approx(50 * float(expected), rel=1e-5)


def test_only_answers_are_read_off_the_trail(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[object] = []
    trace = hypothesis.Trail.trace

    def noting(trail: hypothesis.Trail, *arguments: object) -> Hypothesis:
        traced.append(arguments)
        return trace(trail, *arguments)

    monkeypatch.setattr(hypothesis.Trail, "trace", noting)
    stepper = TableStepper.random(4, vocabulary=5, seed=3)
    frame = Frame(torch.tensor([9, 9, 9, 9]), BEGIN, END)
    beam(stepper, torch.arange(4), frame, width=5, best=2)
    assert len(traced) == 8
