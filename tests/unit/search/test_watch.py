"""Searches that somebody waits for: given up between steps, heard while they go on, and what is kept of each step."""

from collections.abc import Callable, Sequence

import pytest
import torch
from tables import TableStepper

from regard.search import Draw, Frame, Hypothesis, Watch, beam, everyone, greedy, sample

BEGIN, END = 0, 1
SOURCES, LIMIT, VOCABULARY = 3, 12, 6

Search = Callable[[TableStepper, Frame], list[tuple[Hypothesis, ...]]]


def by_greedy(stepper: TableStepper, frame: Frame) -> list[tuple[Hypothesis, ...]]:
    return [one.hypotheses for one in greedy(stepper, torch.arange(len(frame)), frame)]


def by_beam(stepper: TableStepper, frame: Frame) -> list[tuple[Hypothesis, ...]]:
    return [one.hypotheses for one in beam(stepper, torch.arange(len(frame)), frame, width=3, best=2)]


def by_sampling(stepper: TableStepper, frame: Frame) -> list[tuple[Hypothesis, ...]]:
    names = [bytes([number]) for number in range(len(frame))]
    found = sample(stepper, torch.arange(len(frame)), frame, draw=Draw(), names=names)
    return [one.hypotheses for one in found]


every = pytest.mark.parametrize("search", [by_greedy, by_beam, by_sampling])


def table(*, ending: float = -9.0) -> TableStepper:
    """One that would talk on, unless the end is made likelier."""
    stepper = TableStepper.random(SOURCES, VOCABULARY, seed=3)
    stepper.tables[..., END] = ending
    stepper.tables = torch.log_softmax(stepper.tables, dim=-1)
    return stepper


def frame(watches: Sequence[Watch] = (), likeliest: int = 0) -> Frame:
    return Frame(torch.full((SOURCES,), LIMIT), BEGIN, END, watches=watches, likeliest=likeliest)


class Patience:
    """Waits for so many steps."""

    def __init__(self, steps: int):
        self.left = steps

    def __call__(self) -> bool:
        self.left -= 1
        return self.left >= 0


@every
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_search_that_nobody_waits_for_stops_within_one_step(search: Search, steps: int) -> None:
    stepper = table()
    found = search(stepper, frame([Watch(Patience(steps)) for _ in range(SOURCES)]))
    assert len(stepper.rows_stepped) == steps + 1
    assert found == [()] * SOURCES


@every
def test_the_rows_of_a_source_that_is_given_up_leave_and_the_others_answer_as_before(search: Search) -> None:
    undisturbed, stepper = table(), table()
    expected = search(undisturbed, frame())
    found = search(stepper, frame([Watch(), Watch(Patience(2)), Watch()]))
    assert found[1] == ()
    assert [one.tokens for some in (found[0], found[2]) for one in some] == [
        one.tokens for some in (expected[0], expected[2]) for one in some
    ]
    assert stepper.rows_stepped[-1] == undisturbed.rows_stepped[-1] * 2 // 3


@every
def test_what_is_heard_grows_into_the_answer(search: Search) -> None:
    heard: list[list[int]] = []
    watches = [Watch(), Watch(hear=lambda pieces: heard.append(list(pieces))), Watch()]
    answer = search(table(), frame(watches))[1][0]
    assert [len(pieces) for pieces in heard] == list(range(1, LIMIT + 1))
    assert tuple(heard[-1]) == answer.tokens
    if search is not by_beam:
        assert all(tuple(pieces) == answer.tokens[: len(pieces)] for pieces in heard)


def test_of_a_beam_the_likeliest_hypothesis_is_heard_at_every_step() -> None:
    """A beam as wide as its tree is compared with every answer there is."""
    stepper = TableStepper.random(1, 4, seed=8)
    heard: list[tuple[int, ...]] = []
    limits = Frame(
        torch.tensor([3]), BEGIN, END, watches=[Watch(hear=lambda some: heard.append(tuple(some)))]
    )
    beam(stepper, torch.arange(1), limits, width=64)
    log_probabilities = stepper.tables[0].tolist()

    def best(length: int) -> tuple[int, ...]:
        going_on = [((), (0, BEGIN), 0.0)]
        for _ in range(length):
            going_on = [
                ((*said, piece), (last, piece), score + log_probabilities[before][last][piece])
                for said, (before, last), score in going_on
                for piece in range(4)
                if piece != END
            ]
        return max(going_on, key=lambda one: one[2])[0]

    assert heard == [best(length) for length in range(1, len(heard) + 1)]
    assert heard


def test_several_who_wait_for_one_answer_wait_together() -> None:
    heard: list[str] = []
    impatient, patient = Watch(lambda: False, lambda _: heard.append("a")), Watch(lambda: True)
    both = everyone([impatient, patient])
    assert both.wanted()
    assert not everyone([impatient, impatient]).wanted()
    assert both.hear is not None
    both.hear([1])
    assert heard == ["a"]
    assert everyone([patient, patient]).hear is None


@every
def test_the_log_probabilities_of_the_steps_are_those_of_the_pieces(search: Search) -> None:
    stepper = table(ending=-1.0)
    for source, some in enumerate(search(stepper, frame())):
        for answer in some:
            fed = (0, BEGIN, *answer.tokens)
            expected = [
                stepper.tables[source, fed[n], fed[n + 1], token].item()
                for n, token in enumerate(answer.tokens)
            ]
            assert answer.steps == pytest.approx(expected, abs=1e-6)
            assert sum(answer.steps) == pytest.approx(answer.score)


@every
def test_the_likeliest_pieces_of_each_step_are_the_models(search: Search) -> None:
    stepper = table(ending=-1.0)
    for source, some in enumerate(search(stepper, frame(likeliest=3))):
        for answer in some:
            assert len(answer.likeliest) == len(answer.tokens)
            fed = (0, BEGIN, *answer.tokens)
            for n, likeliest in enumerate(answer.likeliest):
                following = stepper.tables[source, fed[n], fed[n + 1]].tolist()
                order = sorted(range(VOCABULARY), key=lambda piece: -following[piece])[:3]
                assert [piece for piece, _ in likeliest] == order
                assert [score for _, score in likeliest] == pytest.approx(
                    [following[piece] for piece in order]
                )


@every
def test_no_likeliest_pieces_are_kept_unless_asked_for(search: Search) -> None:
    assert all(answer.likeliest == () for some in search(table(), frame()) for answer in some)
