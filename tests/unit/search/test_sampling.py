from collections import Counter

import pytest
import torch
from tables import TableStepper

from regard.search import Draw, Forbidden, Frame, sample

BEGIN, END = 0, 1


def tokens(
    stepper: TableStepper, sources: list[int], *, limit: int = 8, **settings: object
) -> list[list[tuple[int, ...]]]:
    frame = Frame(torch.tensor([limit] * len(sources)), BEGIN, END)
    names = [f"source {number}".encode() for number in sources]
    draw = settings.pop("draw", Draw())
    found = sample(stepper, torch.tensor(sources), frame, draw=draw, names=names, **settings)
    return [[one.tokens for one in some.hypotheses] for some in found]


def test_pieces_are_drawn_as_often_as_they_are_likely() -> None:
    stepper = TableStepper.random(1, vocabulary=5, seed=3)
    (drawn,) = tokens(stepper, [0], samples=5_000, limit=1)
    counts = Counter(piece for (piece,) in drawn)
    for piece, log_probability in enumerate(stepper.tables[0, 0, BEGIN].tolist()):
        assert counts[piece] / 5_000 == pytest.approx(2.718281828**log_probability, abs=0.025)


def test_draws_of_a_source_do_not_depend_on_its_neighbours_or_its_place() -> None:
    stepper = TableStepper.random(6, vocabulary=9, seed=1)
    together = tokens(stepper, [0, 1, 2, 3, 4, 5], samples=3)
    for order in ([5, 2, 0], [3], [1, 4, 3, 0, 2]):
        assert tokens(stepper, order, samples=3) == [together[number] for number in order]


def test_one_seed_draws_the_same_and_another_something_else() -> None:
    stepper = TableStepper.random(4, vocabulary=9, seed=1)
    sources = [0, 1, 2, 3]
    assert tokens(stepper, sources, seed=7) == tokens(stepper, sources, seed=7)
    assert tokens(stepper, sources, seed=7) != tokens(stepper, sources, seed=8)
    several = tokens(stepper, sources, seed=7, samples=5)
    assert all(len(set(some)) > 1 for some in several)


def test_scores_are_those_of_the_model_whatever_was_drawn_from() -> None:
    stepper = TableStepper.random(1, vocabulary=5, seed=2)
    frame = Frame(torch.tensor([4]), BEGIN, END)
    (found,) = sample(
        stepper, torch.arange(1), frame, draw=Draw(temperature=3.0, top_k=3), names=[b"x"], samples=30
    )
    answers = stepper.every_answer(0, limit=4, begin=BEGIN, end=END)
    finished = [one for one in found.hypotheses if one.finished]
    assert finished
    for one in finished:
        assert one.score == pytest.approx(answers[one.tokens], abs=1e-5)


def test_the_best_ranked_come_first_and_those_that_were_cut_off_last() -> None:
    """Of answers that go on to the limit of two pieces many are likelier than one that ended."""
    tables = torch.tensor([0.01, 0.3, 0.6, 0.09]).log().expand(1, 4, 4, 4)
    frame = Frame(torch.tensor([2]), BEGIN, END)
    (found,) = sample(TableStepper(tables), torch.arange(1), frame, draw=Draw(), names=[b"x"], samples=60)
    finished = [one.finished for one in found.hypotheses]
    assert finished == sorted(finished, reverse=True)
    ranks = {fate: [one.rank for one in found.hypotheses if one.finished == fate] for fate in (True, False)}
    assert all(some == sorted(some, reverse=True) for some in ranks.values())
    assert max(ranks[False]) > min(ranks[True])


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (Draw(), [0.5, 0.25, 0.15, 0.1]),
        (Draw(top_k=2), [2 / 3, 1 / 3, 0, 0]),
        (Draw(top_p=0.6), [2 / 3, 1 / 3, 0, 0]),
        (Draw(top_p=0.5), [1, 0, 0, 0]),
        (Draw(top_p=1e-9), [1, 0, 0, 0]),
        (Draw(min_p=0.4), [2 / 3, 1 / 3, 0, 0]),
        (Draw(min_p=1.0), [1, 0, 0, 0]),
        (Draw(temperature=0.5), [0.25 / 0.345, 0.0625 / 0.345, 0.0225 / 0.345, 0.01 / 0.345]),
        (Draw(temperature=1e-6), [1, 0, 0, 0]),
        (Draw(top_k=3, top_p=0.8), [2 / 3, 1 / 3, 0, 0]),
    ],
)
def test_filters_leave_what_they_say(draw: Draw, expected: list[float]) -> None:
    order = [2, 0, 3, 1]
    probabilities = torch.tensor([[0.25, 0.1, 0.5, 0.15]]).log()
    found = draw.probabilities(probabilities)[0, order]
    assert (found / found.sum()).tolist() == pytest.approx(expected, abs=1e-6)


def test_what_a_rule_forbids_is_never_drawn() -> None:
    stepper = TableStepper.random(1, vocabulary=4, seed=2)
    frame = Frame(torch.tensor([9]), BEGIN, END, rules=[(Forbidden(((2,), (0,))),)])
    (found,) = sample(stepper, torch.arange(1), frame, draw=Draw(), names=[b"x"], samples=200)
    assert {piece for one in found.hypotheses for piece in one.tokens} == {END, 3}


def test_attention_follows_every_sample() -> None:
    stepper = TableStepper.random(2, vocabulary=6, seed=5)
    frame = Frame(torch.tensor([7, 7]), BEGIN, END)
    found = sample(stepper, torch.arange(2), frame, draw=Draw(), names=[b"x", b"y"], samples=6)
    for source, some in enumerate(found):
        for one in some.hypotheses:
            fed = (0, BEGIN, *one.tokens[:-1])
            expected = [[source, fed[t], fed[t + 1]] for t in range(len(one.tokens))]
            assert one.attention["cross"][0, 0].tolist() == expected
