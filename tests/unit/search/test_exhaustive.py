"""Beam search against brute force, over hundreds of random tables and every way to rank an answer."""

from dataclasses import dataclass
from functools import cache

import pytest
import torch
from tables import TableStepper

from regard.search import RANKS, Coverage, Frame, LengthPenalty, Rank, beam

BEGIN, END, PIECES, LOOKS = 0, 1, 4, 3
LIMITS = (4, 3, 4, 2)  # one after the other, so that sources leave the batch at different steps
TABLES = 300
Answer = tuple[int, ...]

MEMBERS = {
    "none": LengthPenalty(),
    **{f"{name} {a}": RANKS[name](a) for name in RANKS for a in (0.6, 1.0, 2.0)},
}
ranks = pytest.mark.parametrize("rank", MEMBERS.values(), ids=list(MEMBERS))
coverages = pytest.mark.parametrize("strength", [0.0, 0.2, 1.5])


@cache
def tables() -> TableStepper:
    return TableStepper.random(TABLES, vocabulary=PIECES, seed=1, looks=LOOKS)


@cache
def limits() -> tuple[int, ...]:
    return (LIMITS * TABLES)[:TABLES]


@cache
def masks() -> torch.Tensor:
    """sources S: every third source is one piece shorter than the others."""
    mask = torch.ones(TABLES, LOOKS, dtype=torch.bool)
    mask[::3, -1] = False
    return mask


@cache
def every_answer() -> list[dict[Answer, tuple[float, torch.Tensor]]]:
    """Of each source all answers there are, with their log-probabilities and what they looked at in all (S)."""
    stepper = tables()
    assert stepper.looks is not None
    found = []
    for source, limit in enumerate(limits()):
        looks, sums = stepper.looks[source], {}
        for answer, score in stepper.every_answer(source, limit=limit, begin=BEGIN, end=END).items():
            fed = (0, BEGIN, *answer[:-1])
            sums[answer] = (score, looks[fed[:-1], fed[1:]].double().sum(0))
        found.append(sums)
    return found


def worth(source: int, rank: Rank, strength: float) -> dict[Answer, float]:
    """Equation 14 of Wu et al. 2016, written down again: what each answer of a source is worth."""
    answers = every_answer()[source]
    seen = torch.stack([looks for _, looks in answers.values()])[:, masks()[source]]
    covered = strength * seen.clamp(1e-3, 1).log().sum(-1)
    ranked = [
        float(rank(torch.tensor(score, dtype=torch.float64), len(answer)))
        for answer, (score, _) in answers.items()
    ]
    return dict(zip(answers, (torch.tensor(ranked) + covered).tolist(), strict=True))


def search(
    rank: Rank, strength: float, *, width: int, best: int = 1, room: int = 1
) -> list[list[tuple[Answer, float, float]]]:
    """Of each source the finished answers: pieces, log-probability, rank. `room` times the usual limits."""
    coverage = (Coverage(strength), masks()) if strength else None
    frame = Frame(room * torch.tensor(limits()), BEGIN, END)
    everything = beam(
        tables(), torch.arange(TABLES), frame, width=width, best=best, rank=rank, coverage=coverage
    )
    return [
        [(one.tokens, one.score, one.rank) for one in found.hypotheses if one.finished]
        for found in everything
    ]


@ranks
@coverages
def test_a_beam_as_wide_as_the_tree_finds_the_brute_force_best(rank: Rank, strength: float) -> None:
    best = 5
    for source, found in enumerate(search(rank, strength, width=PIECES ** max(LIMITS), best=best)):
        expected = worth(source, rank, strength)
        order = sorted(expected, key=lambda answer: -expected[answer])[:best]
        assert [answer for answer, _, _ in found] == order
        for answer, score, ranked in found:
            assert score == pytest.approx(every_answer()[source][answer][0], abs=1e-5)
            assert ranked == pytest.approx(expected[answer], abs=1e-5)


@dataclass(frozen=True)
class NeverSure:
    """A rank that gives no hope up, so that a search goes on to its limit."""

    rank: Rank

    def __call__(self, log_probability: torch.Tensor, length: int | torch.Tensor) -> torch.Tensor:
        if isinstance(length, torch.Tensor):  # how the search asks for the best attainable
            return torch.full_like(log_probability, 1e9)
        return self.rank(log_probability, length)


@ranks
@coverages
@pytest.mark.parametrize("width", [2, 5])
def test_stopping_early_loses_nothing(rank: Rank, strength: float, width: int) -> None:
    early = search(rank, strength, width=width, best=2, room=4)
    assert early == search(NeverSure(rank), strength, width=width, best=2, room=4)


def test_a_search_does_stop_early() -> None:
    stepper, steps = tables(), []
    for rank in (LengthPenalty(0.6), NeverSure(LengthPenalty(0.6))):
        stepper.rows_stepped.clear()
        search(rank, 0.0, width=5, best=2, room=4)
        steps.append(sum(stepper.rows_stepped))
    assert steps[0] < steps[1]


@ranks
@coverages
def test_the_widest_beam_is_beaten_by_none(rank: Rank, strength: float) -> None:
    narrow = [search(rank, strength, width=width) for width in (1, 2, 3, 8)]
    widest = search(rank, strength, width=PIECES ** max(LIMITS))
    for source, found in enumerate(widest):
        ((_, _, top),) = found
        assert all(ranked <= top + 1e-9 for some in narrow for _, _, ranked in some[source])
