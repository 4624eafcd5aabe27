import random
import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from tables import TableStepper

from regard.search import (
    Draw,
    Forbidden,
    Found,
    Frame,
    LengthPenalty,
    NoRepeat,
    Phrase,
    Prefix,
    Required,
    Rule,
    Rules,
    beam,
    greedy,
    sample,
)
from regard.search.rules import after, allowed_by

BEGIN, END, A, B, C = 0, 1, 2, 3, 4
Answer = tuple[int, ...]


def holds(answer: Answer, phrase: Answer) -> bool:
    return any(answer[n : n + len(phrase)] == phrase for n in range(len(answer)))


def repeats(answer: Answer, size: int) -> bool:
    grams = [answer[n : n + size] for n in range(len(answer) - size + 1)]
    return len(set(grams)) < len(grams)


def required(*phrases: Answer) -> Required:
    return Required.of([Phrase((phrase,), name=str(phrase)) for phrase in phrases], end=END)


CASES: dict[str, tuple[Rule, Callable[[Answer], bool]]] = {
    "prefix": (Prefix((A, B)), lambda answer: answer[:2] == (A, B)),
    "forbidden piece": (Forbidden(((A,),)), lambda answer: A not in answer),
    "forbidden phrases": (
        Forbidden(((A, B), (C, C))),
        lambda answer: not holds(answer, (A, B)) and not holds(answer, (C, C)),
    ),
    "no piece twice": (NoRepeat(1), lambda answer: not repeats(answer, 1)),
    "no pair twice": (NoRepeat(2), lambda answer: not repeats(answer, 2)),
    "one piece": (required((A,)), lambda answer: A in answer),
    "a phrase": (required((A, B)), lambda answer: holds(answer, (A, B))),
    "a phrase that overlaps itself": (required((A, A, B)), lambda answer: holds(answer, (A, A, B))),
    "two phrases": (required((A,), (C, B)), lambda answer: A in answer and holds(answer, (C, B))),
    "three pieces": (required((A,), (B,), (C,)), lambda answer: {A, B, C} <= set(answer)),
    "either way": (
        Required.of([Phrase(((A, B), (C,)))], end=END),
        lambda answer: holds(answer, (A, B)) or C in answer,
    ),
}


def search(stepper: TableStepper, rule: Rule, *, limit: int, width: int, best: int = 1) -> Found:
    frame = Frame(torch.tensor([limit]), BEGIN, END, rules=[(rule,)])
    (found,) = beam(stepper, torch.arange(1), frame, width=width, best=best, rank=LengthPenalty(0.6))
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", CASES)
def test_a_beam_as_wide_as_the_tree_finds_the_best_that_keep_the_rule(name: str, seed: int) -> None:
    rule, kept = CASES[name]
    stepper = TableStepper.random(1, vocabulary=5, seed=seed)
    answers = {
        answer: score / ((5 + len(answer)) / 6) ** 0.6
        for answer, score in stepper.every_answer(0, limit=5, begin=BEGIN, end=END).items()
        if kept(answer)
    }
    expected = sorted(answers, key=lambda answer: -answers[answer])[:4]
    found = search(stepper, rule, limit=5, width=5**5, best=4)
    assert [one.tokens for one in found.hypotheses] == expected
    scores = [one.score for one in found.hypotheses]
    whole = stepper.every_answer(0, limit=5, begin=BEGIN, end=END)
    assert scores == pytest.approx([whole[answer] for answer in expected], abs=1e-5)  # not renormalised


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_narrow_beam_keeps_the_rule_too(name: str, seed: int, width: int) -> None:
    rule, kept = CASES[name]
    found = search(TableStepper.random(1, vocabulary=5, seed=seed), rule, limit=9, width=width)
    (hypothesis,) = found.hypotheses
    assert kept(hypothesis.tokens)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", CASES)
def test_greedy_search_keeps_the_rule_too(name: str, seed: int) -> None:
    rule, kept = CASES[name]
    frame = Frame(torch.tensor([9]), BEGIN, END, rules=[(rule,)])
    ((hypothesis,),) = [
        found.hypotheses for found in greedy(TableStepper.random(1, 5, seed), torch.arange(1), frame)
    ]
    assert kept(hypothesis.tokens)


@given(
    answer=some.lists(some.integers(2, 4), max_size=12).map(tuple),
    phrases=some.lists(
        some.lists(some.integers(2, 4), min_size=1, max_size=4).map(tuple), min_size=1, max_size=3
    ),
)
def test_what_is_missing_is_what_the_answer_does_not_hold(answer: Answer, phrases: list[Answer]) -> None:
    rule = required(*phrases)
    for piece in answer:
        rule = rule.after(piece)
    assert {phrases[n] for n in rule.missing} == {phrase for phrase in phrases if not holds(answer, phrase)}


@given(
    answer=some.lists(some.integers(2, 4), max_size=8).map(tuple),
    phrases=some.lists(
        some.lists(some.integers(2, 4), min_size=1, max_size=4).map(tuple), min_size=1, max_size=3
    ),
    spare=some.integers(0, 5),
    chance=some.randoms(use_true_random=False),
)
def test_from_everywhere_it_is_done_in_as_many_pieces_as_it_says(
    answer: Answer, phrases: list[Answer], spare: int, chance: random.Random
) -> None:
    """Whatever is chosen of what is allowed."""
    rule = required(*phrases)
    for piece in answer:
        rule = rule.after(piece)
    for room in range(rule.needed + 1 + spare, 1, -1):
        allowed = rule.allowed(room).only
        rule = rule.after(chance.choice([2, 3, 4, 5] if allowed is None else sorted(allowed)))
    assert not rule.missing


def test_only_what_may_follow_a_phrase_follows_it() -> None:
    rule = Required.of([Phrase(((A,),), follow=frozenset({C, END}))], end=END)
    assert rule.after(A).allowed(5).only == {C, END}
    assert rule.after(A).after(C).allowed(5).only is None


def test_rules_of_one_source_do_not_bind_its_neighbour() -> None:
    stepper = TableStepper.random(2, vocabulary=5, seed=1)
    free = Frame(torch.tensor([6, 6]), BEGIN, END)
    bound = Frame(torch.tensor([6, 6]), BEGIN, END, rules=[(), (Prefix((C, C)),)])
    before = beam(stepper, torch.arange(2), free, width=3)
    after = beam(stepper, torch.arange(2), bound, width=3)
    assert after[0].hypotheses[0].tokens == before[0].hypotheses[0].tokens
    assert after[1].hypotheses[0].tokens[:2] == (C, C)


@pytest.mark.parametrize("search_by", [beam, greedy])
def test_a_source_without_any_allowed_answer_gets_none_and_its_neighbour_its_own(search_by: Callable) -> None:
    stepper = TableStepper.random(2, vocabulary=5, seed=1)
    contradiction = (Prefix((A,)), Forbidden(((A,),)))
    frame = Frame(torch.tensor([6, 6]), BEGIN, END, rules=[contradiction, ()])
    found = search_by(stepper, torch.arange(2), frame)
    assert found[0].hypotheses == ()
    assert len(found[1].hypotheses) == 1


@pytest.mark.parametrize(
    ("rule", "room", "message"),
    [
        (Prefix((A, B, C)), 2, "the beginning has 3 pieces, but the answer can have only 2"),
        (required((A, B), (C,)), 3, r"\(2, 3\), \(4,\) and the end are 4 pieces"),
    ],
)
def test_what_cannot_fit_is_said_before_the_search(rule: Rule, room: int, message: str) -> None:
    why = rule.impossible(room)
    assert why is not None
    assert re.search(message, why)
    assert rule.impossible(20) is None


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("least", [0, 2, 4])
def test_no_answer_ends_before_its_least_length(seed: int, least: int) -> None:
    stepper = TableStepper.random(2, vocabulary=5, seed=seed)
    frame = Frame(torch.tensor([6, 6]), BEGIN, END, least=torch.tensor([0, least]))
    free = Frame(torch.tensor([6, 6]), BEGIN, END)
    for search_by in (beam, greedy):
        found, before = (search_by(stepper, torch.arange(2), one) for one in (frame, free))
        assert len(found[1].hypotheses[0].tokens) > least
        assert found[0].hypotheses[0].tokens == before[0].hypotheses[0].tokens


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("least", [1, 2, 3])
def test_the_widest_beam_finds_the_best_of_those_that_are_long_enough(seed: int, least: int) -> None:
    stepper = TableStepper.random(1, vocabulary=5, seed=seed)
    frame = Frame(torch.tensor([4]), BEGIN, END, least=torch.tensor([least]))
    (found,) = beam(stepper, torch.arange(1), frame, width=5**4)
    answers = stepper.every_answer(0, limit=4, begin=BEGIN, end=END)
    assert found.hypotheses[0].tokens == max(
        (answer for answer in answers if len(answer) > least), key=lambda answer: answers[answer]
    )


def test_the_end_must_be_likely_enough_beside_the_likeliest_other_piece() -> None:
    tables = torch.log(torch.tensor([0.0, 0.3, 0.5, 0.2])).expand(1, 4, 4, 4)
    for threshold, pieces in ((0.0, 5), (0.59, 5), (0.61, 6)):
        frame = Frame(torch.tensor([6]), BEGIN, END, end_threshold=threshold)
        (found,) = beam(TableStepper(tables), torch.arange(1), frame, width=4**6, best=1)
        ended = [one for one in found.hypotheses if one.finished]
        assert bool(ended) == (threshold < 0.6), pieces


# ---- what must come, although it came before


def by_sampling(stepper: TableStepper, source: torch.Tensor, frame: Frame) -> list[Found]:
    return sample(stepper, source, frame, draw=Draw(), names=[b"x"])


every = pytest.mark.parametrize("search_by", [beam, greedy, by_sampling])


@every
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("order", [1, -1])
def test_a_beginning_may_repeat_itself_and_nothing_else_does(
    search_by: Callable, size: int, order: int
) -> None:
    beginning = (A, B, A, B, A)
    rules = (Prefix(beginning), NoRepeat(size))[::order]
    for seed in range(10):
        frame = Frame(torch.tensor([12]), BEGIN, END, rules=[rules])
        (found,) = search_by(TableStepper.random(1, 5, seed), torch.arange(1), frame)
        (answer,) = (one.tokens for one in found.hypotheses)
        assert answer[:5] == beginning
        said = [answer[n : n + size] for n in range(len(answer) - size + 1)]
        for place in range(5 - size + 1, len(said)):
            assert said[place] not in said[:place]


@every
@pytest.mark.parametrize("phrases", [[(A, B, A, B)], [(A, B, C), (A, B, A)], [(A, A, A)]])
@pytest.mark.parametrize("order", [1, -1])
def test_a_required_phrase_may_repeat_what_was_said(
    search_by: Callable, phrases: list[Answer], order: int
) -> None:
    rules = (required(*phrases), NoRepeat(2))[::order]
    for seed in range(10):
        frame = Frame(torch.tensor([12]), BEGIN, END, rules=[rules])
        (found,) = search_by(TableStepper.random(1, 5, seed), torch.arange(1), frame)
        (answer,) = (one.tokens for one in found.hypotheses)
        assert all(holds(answer, phrase) for phrase in phrases)


def test_a_phrase_that_repeats_itself_is_not_put_off_until_the_room_is_tight() -> None:
    tables = torch.zeros(1, 5, 5, 5)
    tables[0, A, B, A] = tables[0, B, A, B] = tables[0, A, A, B] = 5.0  # on with the phrase, once it is begun
    tables[..., END] = 4.0
    frame = Frame(torch.tensor([60]), BEGIN, END, rules=[(required((A, B, A, B)), NoRepeat(2))])
    (found,) = beam(TableStepper(tables), torch.arange(1), frame, width=5)
    assert found.hypotheses[0].finished
    assert len(found.hypotheses[0].tokens) < 10


def test_to_begin_a_phrase_again_and_again_is_no_way_round_the_rule() -> None:
    rules: Rules = (required((A, A, C)), NoRepeat(2))
    for piece in (A, A):
        assert piece not in allowed_by(rules, 20).never
        rules = after(rules, piece)
    assert A in allowed_by(rules, 20).never
    assert C not in allowed_by(rules, 20).never


def test_what_is_forbidden_is_so_even_where_nothing_else_is_left() -> None:
    for rules in [(Prefix((A,)), Forbidden(((A,),))), (required((A,)), Forbidden(((A,),)))]:
        allowed = allowed_by(rules, 2)
        assert A in allowed.never
        assert set(allowed.only or ()) == {A}


@given(
    answer=some.lists(some.integers(2, 4), max_size=8).map(tuple),
    phrases=some.lists(
        some.lists(some.integers(2, 4), min_size=1, max_size=4).map(tuple), min_size=1, max_size=3
    ),
    size=some.integers(1, 3),
    chance=some.randoms(use_true_random=False),
)
def test_a_rule_of_repetition_never_stops_what_must_come(
    answer: Answer, phrases: list[Answer], size: int, chance: random.Random
) -> None:
    """Whatever is chosen of what is allowed."""
    rules: Rules = (required(*phrases), NoRepeat(size))
    for piece in answer:
        rules = after(rules, piece)
    for room in range(rules[0].needed + 1, 1, -1):
        if rules[0].missing:  # overlapping phrases need less than was said
            allowed = allowed_by(rules, room)
            pieces = {2, 3, 4, 5} if allowed.only is None else set(allowed.only)
            rules = after(rules, chance.choice(sorted(pieces - set(allowed.never))))
    assert not rules[0].missing


@pytest.mark.parametrize("seed", range(30))
def test_whoever_says_what_is_allowed_by_chance_has_said_all_phrases_in_time(seed: int) -> None:
    """Also where something must stand between two of them, as between words of letters."""
    chance, space = random.Random(seed), 5
    follow = frozenset({space, END})
    ways = [((A, B),), ((C, A), (B, C)), ((space, C, C), (C, C))][: chance.randint(1, 3)]
    rule = Required.of([Phrase(some, follow, name=str(some)) for some in ways], end=END)
    least = next(room for room in range(1, 20) if rule.impossible(room) is None)
    room = least + chance.randint(0, 6)
    said: list[int] = []
    while room:
        allowed = rule.allowed(room)
        among = {A, B, C, space, END} if allowed.only is None else set(allowed.only)
        open_to = sorted(among - set(allowed.never) - ({A, B, C, space} if room == 1 else set()))
        assert open_to, (said, room)
        piece = chance.choice(open_to)
        if piece == END:
            break
        said.append(piece)
        rule, room = rule.after(piece), room - 1
    assert piece == END
    assert not rule.missing
