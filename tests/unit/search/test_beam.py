import pytest
import torch
from tables import TableStepper

from regard.search import LengthPenalty, beam, greedy

BEGIN, END = 0, 1


def limits(*lengths: int) -> torch.Tensor:
    return torch.tensor(lengths)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(40))
def test_a_beam_as_wide_as_the_tree_finds_the_brute_force_best(seed: int, alpha: float) -> None:
    stepper, rank = TableStepper.random(2, vocabulary=4, seed=seed), LengthPenalty(alpha)
    found = beam(
        stepper, torch.arange(2), limits=limits(4, 3), begin=BEGIN, end=END, width=4**4, best=5, rank=rank
    )
    for source, limit in ((0, 4), (1, 3)):
        answers = stepper.every_answer(source, limit=limit, begin=BEGIN, end=END)
        ranks = {answer: score / ((5 + len(answer)) / 6) ** alpha for answer, score in answers.items()}
        expected = sorted(ranks, key=lambda answer: -ranks[answer])[:5]
        assert [hypothesis.tokens for hypothesis in found[source]] == expected
        for hypothesis in found[source]:
            assert hypothesis.finished
            assert hypothesis.score == pytest.approx(answers[hypothesis.tokens], abs=1e-5)
            assert hypothesis.rank == pytest.approx(ranks[hypothesis.tokens], abs=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    stepper = TableStepper.random(5, vocabulary=6, seed=seed)
    bounds = limits(9, 3, 7, 1, 20)
    chosen = greedy(stepper, torch.arange(5), limits=bounds, begin=BEGIN, end=END)
    found = beam(stepper, torch.arange(5), limits=bounds, begin=BEGIN, end=END, width=1)
    for one, (other,) in zip(chosen, found, strict=True):
        assert (one.tokens, one.finished) == (other.tokens, other.finished)
        assert one.score == pytest.approx(other.score, abs=1e-5)
        assert torch.equal(one.attention["cross"], other.attention["cross"])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("width", [2, 3, 5])
def test_attention_follows_its_hypothesis_through_every_reordering(seed: int, width: int) -> None:
    stepper = TableStepper.random(4, vocabulary=7, seed=seed)
    sources = torch.arange(4)
    found = beam(stepper, sources, limits=limits(8, 8, 5, 8), begin=BEGIN, end=END, width=width, best=width)
    for source, hypotheses in enumerate(found):
        for hypothesis in hypotheses:
            fed = (0, BEGIN, *hypothesis.tokens[:-1])
            expected = [[source, fed[t], fed[t + 1]] for t in range(len(hypothesis.tokens))]
            assert hypothesis.attention["cross"][0, 0].tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_change_no_answer(seed: int) -> None:
    stepper = TableStepper.random(6, vocabulary=6, seed=seed)
    bounds = limits(10, 2, 10, 4, 10, 7)
    together = beam(stepper, torch.arange(6), limits=bounds, begin=BEGIN, end=END, width=3, best=3)
    for source in range(6):
        (alone,) = beam(
            stepper, torch.tensor([source]), limits=bounds[[source]], begin=BEGIN, end=END, width=3, best=3
        )
        assert [one.tokens for one in alone] == [one.tokens for one in together[source]]


def test_finished_rows_leave_the_batch() -> None:
    tables = torch.full((2, 3, 3, 3), -20.0)
    tables[0, :, :, END] = 20.0  # the first source ends at once
    tables[1, :, :, 2] = 20.0  # the second never ends
    stepper = TableStepper(tables)
    found = greedy(stepper, torch.arange(2), limits=limits(6, 6), begin=BEGIN, end=END)
    assert found[0].tokens == (END,)
    assert found[0].finished
    assert found[1].tokens == (2,) * 6
    assert not found[1].finished
    assert stepper.rows_stepped == [2, 1, 1, 1, 1, 1]
    stepper.rows_stepped.clear()
    beam(stepper, torch.arange(2), limits=limits(6, 6), begin=BEGIN, end=END, width=2)
    assert stepper.rows_stepped == [2, 2, 2, 2, 2, 2]  # one source with two live hypotheses after the first


def test_a_row_at_its_limit_gives_its_best_unfinished_hypotheses() -> None:
    tables = torch.zeros(1, 4, 4, 4)
    tables[..., END] = -torch.inf  # nothing can end
    tables[..., 3] = 1.0
    (found,) = beam(
        TableStepper(tables), torch.arange(1), limits=limits(3), begin=BEGIN, end=END, width=2, best=2
    )
    assert found[0].tokens == (3, 3, 3)
    assert [one.finished for one in found] == [False, False]


@pytest.mark.parametrize("seed", range(20))
def test_stopping_early_loses_nothing(seed: int) -> None:
    """With a rank that can never be sure, the search goes on to the limit; the answers are the same."""

    class NeverSure:
        def __call__(self, log_probability: torch.Tensor, length: int | torch.Tensor) -> torch.Tensor:
            if isinstance(length, torch.Tensor):  # how the search asks for the best attainable
                return torch.zeros_like(log_probability)
            return LengthPenalty(0.8)(log_probability, length)

    stepper = TableStepper.random(3, vocabulary=5, seed=seed)
    bounds = limits(12, 12, 12)
    settings = {"limits": bounds, "begin": BEGIN, "end": END, "width": 4, "best": 2}
    early = beam(stepper, torch.arange(3), rank=LengthPenalty(0.8), **settings)
    to_the_end = beam(stepper, torch.arange(3), rank=NeverSure(), **settings)
    assert [[one.tokens for one in some] for some in early] == [
        [one.tokens for one in some] for some in to_the_end
    ]
