import pytest
import torch
from tables import TableStepper

from regard.search import Found, Frame, Hypothesis, LengthPenalty, beam, greedy

BEGIN, END = 0, 1


def limits(*lengths: int) -> Frame:
    return Frame(torch.tensor(lengths), BEGIN, END)


def only(found: Found) -> Hypothesis:
    (hypothesis,) = found.hypotheses
    return hypothesis


@pytest.mark.parametrize("alpha", [0, 0.6, 2])
@pytest.mark.parametrize("seed", range(40))
def test_a_beam_of_one_is_greedy(seed: int, alpha: float) -> None:
    """Also where length is worth something: what the tree is asked for must not change the answer."""
    stepper, rank = TableStepper.random(5, vocabulary=6, seed=seed), LengthPenalty(alpha)
    bounds = limits(9, 3, 7, 1, 20)
    chosen = greedy(stepper, torch.arange(5), bounds, rank=rank)
    found = beam(stepper, torch.arange(5), bounds, width=1, rank=rank, record=True)
    for one, other in zip(map(only, chosen), map(only, found), strict=True):
        assert (one.tokens, one.finished) == (other.tokens, other.finished)
        assert one.score == pytest.approx(other.score, abs=1e-5)
        assert torch.equal(one.attention["cross"], other.attention["cross"])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("width", [2, 3, 5])
def test_attention_follows_its_hypothesis_through_every_reordering(seed: int, width: int) -> None:
    stepper = TableStepper.random(4, vocabulary=7, seed=seed)
    sources = torch.arange(4)
    found = beam(stepper, sources, limits(8, 8, 5, 8), width=width, best=width)
    for source, hypotheses in enumerate(found):
        for hypothesis in hypotheses.hypotheses:
            fed = (0, BEGIN, *hypothesis.tokens[:-1])
            expected = [[source, fed[t], fed[t + 1]] for t in range(len(hypothesis.tokens))]
            assert hypothesis.attention["cross"][0, 0].tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_change_no_answer(seed: int) -> None:
    stepper = TableStepper.random(6, vocabulary=6, seed=seed)
    bounds = limits(10, 2, 10, 4, 10, 7)
    together = beam(stepper, torch.arange(6), bounds, width=3, best=3)
    for source in range(6):
        frame = limits(bounds.bounds[source])
        (alone,) = beam(stepper, torch.tensor([source]), frame, width=3, best=3)
        assert [one.tokens for one in alone.hypotheses] == [one.tokens for one in together[source].hypotheses]


def test_finished_rows_leave_the_batch() -> None:
    tables = torch.full((2, 3, 3, 3), -20.0)
    tables[0, :, :, END] = 20.0  # the first source ends at once
    tables[1, :, :, 2] = 20.0  # the second never ends
    stepper = TableStepper(tables)
    found = [only(one) for one in greedy(stepper, torch.arange(2), limits(6, 6))]
    assert found[0].tokens == (END,)
    assert found[0].finished
    assert found[1].tokens == (2,) * 6
    assert not found[1].finished
    assert stepper.rows_stepped == [2, 1, 1, 1, 1, 1]
    stepper.rows_stepped.clear()
    beam(stepper, torch.arange(2), limits(6, 6), width=2)
    assert stepper.rows_stepped == [2, 2, 2, 2, 2, 2]  # one source with two live hypotheses after the first


def test_a_row_at_its_limit_gives_its_best_unfinished_hypotheses() -> None:
    tables = torch.zeros(1, 4, 4, 4)
    tables[..., END] = -torch.inf  # nothing can end
    tables[..., 3] = 1.0
    (found,) = beam(TableStepper(tables), torch.arange(1), limits(3), width=2, best=2)
    assert found.hypotheses[0].tokens == (3, 3, 3)
    assert [one.finished for one in found.hypotheses] == [False, False]
