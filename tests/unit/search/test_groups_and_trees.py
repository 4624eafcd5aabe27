import math
from collections import Counter
from dataclasses import replace

import pytest
import torch
from tables import TableState, TableStepper

from regard.core.errors import UserError
from regard.core.state import StepOutput
from regard.search import Coverage, Ensemble, Frame, Groups, LengthPenalty, Phrase, Required, beam
from regard.search.tree import FINISHED, KEPT, PRUNED

BEGIN, END = 0, 1


def frame(*limits: int) -> Frame:
    return Frame(torch.tensor(limits), BEGIN, END)


@pytest.mark.parametrize("seed", range(10))
def test_groups_that_do_not_avoid_each_other_all_find_the_same(seed: int) -> None:
    stepper = TableStepper.random(3, vocabulary=6, seed=seed)
    alone = beam(stepper, torch.arange(3), frame(7, 3, 7), width=2, best=2)
    grouped = beam(stepper, torch.arange(3), frame(7, 3, 7), width=6, best=2, groups=Groups(3, 0.0))
    for one, other in zip(alone, grouped, strict=True):
        assert [hypothesis.tokens for hypothesis in one.hypotheses] == [
            hypothesis.tokens for hypothesis in other.hypotheses
        ]


def test_groups_that_avoid_each_other_begin_differently() -> None:
    stepper = TableStepper.random(5, vocabulary=9, seed=1)
    found = beam(stepper, torch.arange(5), frame(*[8] * 5), width=4, best=4, groups=Groups(4, 1000.0))
    for some in found:
        firsts = [hypothesis.tokens[0] for hypothesis in some.hypotheses]
        assert len(firsts) == len(set(firsts)) == 4
    usual = beam(stepper, torch.arange(5), frame(*[8] * 5), width=4, best=4)
    assert any(len({one.tokens[0] for one in some.hypotheses}) < 4 for some in usual)


@pytest.mark.parametrize(("strength", "second"), [(0.6, 2), (0.65, 2), (0.75, 3), (1.0, 3), (2.3, 3)])
def test_a_group_takes_another_piece_when_the_penalty_outweighs_the_gap(strength: float, second: int) -> None:
    """log 0.6 - log 0.3 is 0.69 (Vijayakumar et al. 2018)."""
    tables = torch.tensor([0.01, 0.04, 0.6, 0.3, 0.05]).log().expand(1, 5, 5, 5)
    (found,) = beam(
        TableStepper(tables),
        torch.arange(1),
        frame(1),
        width=2,
        best=2,
        groups=Groups(2, strength),
        record=True,
    )
    assert found.tree is not None
    assert [node.piece for node in found.tree.nodes if node.fate == KEPT] == [2, second]
    scores = {one.tokens: one.score for one in found.hypotheses}
    # What both groups take is one answer: the second gives its next best.
    assert scores == pytest.approx({(2,): math.log(0.6), (3,): math.log(0.3)})


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("strength", [0.0, 0.1, 0.5, 4.0])
@pytest.mark.parametrize(("count", "limit"), [(2, 9), (3, 9), (6, 9), (3, 2), (6, 3)])
def test_groups_that_come_to_the_same_give_as_many_answers_as_asked_for(
    count: int, limit: int, strength: float, seed: int
) -> None:
    stepper = TableStepper.random(3, vocabulary=8, seed=seed)
    found = beam(
        stepper, torch.arange(3), frame(*[limit] * 3), width=6, best=6, groups=Groups(count, strength)
    )
    for some in found:
        assert len({one.tokens for one in some.hypotheses}) == len(some.hypotheses) == 6


Answer = tuple[int, ...]
Ended = tuple[bool, float, Answer]  # whether it was cut off, how unlikely it is, what was said


def diverse(
    stepper: TableStepper, source: int, limit: int, *, width: int, best: int, groups: Groups
) -> list[tuple[Answer, bool]]:
    """Algorithm 1 of Vijayakumar et al. 2018 on lists, with the stopping of a beam: answers, and whether they ended."""
    table = stepper.tables[source].tolist()
    width //= groups.count
    size = min(best, width)
    live: list[list[tuple[Answer, float]]] = [[((), 0.0)]] * groups.count
    pools: list[list[Ended]] = [[] for _ in range(groups.count)]
    for length in range(1, limit + 1):
        taken: Counter[int] = Counter()
        spare = []
        for group in range(groups.count):
            every = [
                ((*said, piece), score + more)
                for said, score in live[group]
                for piece, more in enumerate(table[(0, BEGIN, *said)[-2]][(BEGIN, *said)[-1]])
            ]
            every.sort(key=lambda one: -(one[1] - groups.strength * taken[one[0][-1]]))
            ended = [one for one in every[:width] if one[0][-1] == END]
            spare.append([one for one in every if one[0][-1] != END])
            live[group] = spare[group][:width]
            taken.update(said[-1] for said, _ in ended + live[group])
            pools[group] = sorted(pools[group] + [(False, -score, said) for said, score in ended])
        for group in range(groups.count):
            if length == limit and len(own(pools, size)[group]) < size:
                for number, (said, score) in enumerate(spare[group]):
                    if number < width or len(own(pools, size)[group]) < size:
                        pools[group] = sorted([*pools[group], (True, -score, said)])
            attainable = max((score for _, score in live[group]), default=-math.inf)
            answers = sorted(one for some in own(pools, size) for one in some)
            if beats(own(pools, size)[group], size, attainable) or (
                beats(pools[group], size, attainable) and beats(answers, best, attainable)
            ):
                live[group] = []
    answers = sorted(one for some in own(pools, size) for one in some)
    return [(said, not cut) for cut, _, said in answers[:best]]


def own(pools: list[list[Ended]], size: int) -> list[list[Ended]]:
    """Of each group the best that no group before it has."""
    found: list[list[Ended]] = []
    for pool in pools:
        others = [said for some in found for _, _, said in some]
        found.append([one for one in pool if one[2] not in others][:size])
    return found


def beats(pool: list[Ended], size: int, attainable: float) -> bool:
    return len(pool) >= size and -pool[size - 1][1] >= attainable


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("strength", [0.1, 0.5, 1.5, 4.0])
@pytest.mark.parametrize("count", [2, 3])
def test_groups_find_what_the_papers_algorithm_finds(seed: int, strength: float, count: int) -> None:
    stepper, groups = TableStepper.random(4, vocabulary=7, seed=seed), Groups(count, strength)
    limits = (7, 2, 7, 4)
    found = beam(stepper, torch.arange(4), frame(*limits), width=2 * count, best=3, groups=groups)
    for source, (some, limit) in enumerate(zip(found, limits, strict=True)):
        expected = diverse(stepper, source, limit, width=2 * count, best=3, groups=groups)
        assert [(one.tokens, one.finished) for one in some.hypotheses] == expected


@pytest.mark.parametrize("seed", range(10))
def test_groups_hold_what_is_required_and_still_avoid_each_other(seed: int) -> None:
    stepper = TableStepper.random(1, vocabulary=6, seed=seed)
    rules = [(Required.of([Phrase(((3, 4),))], end=END),)]
    bound = Frame(torch.tensor([8]), BEGIN, END, rules=rules)
    firsts = []
    for strength in (0.0, 50.0):
        (found,) = beam(
            stepper, torch.arange(1), bound, width=6, best=6, groups=Groups(2, strength), record=True
        )
        assert found.tree is not None
        assert all((3, 4) in zip(one.tokens, one.tokens[1:], strict=False) for one in found.hypotheses)
        for one in found.hypotheses:
            assert one.score == pytest.approx(score(stepper, 0, one.tokens), abs=1e-5)
        firsts.append(len({node.piece for node in found.tree.nodes if node.step == 1 and node.fate == KEPT}))
    assert firsts[1] > firsts[0]


@pytest.mark.parametrize("seed", range(10))
def test_scores_in_groups_are_those_of_the_model(seed: int) -> None:
    stepper = TableStepper.random(1, vocabulary=4, seed=seed)
    (found,) = beam(stepper, torch.arange(1), frame(5), width=4, best=4, groups=Groups(2, 0.7))
    answers = stepper.every_answer(0, limit=5, begin=BEGIN, end=END)
    for one in found.hypotheses:
        if one.finished:
            assert one.score == pytest.approx(answers[one.tokens], abs=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_neighbours_change_no_group(seed: int) -> None:
    stepper = TableStepper.random(4, vocabulary=6, seed=seed)
    together = beam(stepper, torch.arange(4), frame(9, 2, 9, 5), width=4, best=3, groups=Groups(2))
    for source, limit in enumerate((9, 2, 9, 5)):
        (alone,) = beam(stepper, torch.tensor([source]), frame(limit), width=4, best=3, groups=Groups(2))
        assert [one.tokens for one in alone.hypotheses] == [one.tokens for one in together[source].hypotheses]


@pytest.mark.parametrize("groups", [Groups(), Groups(2)])
@pytest.mark.parametrize("seed", range(5))
def test_the_tree_holds_what_was_considered_and_its_answers(seed: int, groups: Groups) -> None:
    stepper = TableStepper.random(2, vocabulary=6, seed=seed)
    settings = {"width": 4, "best": 2, "rank": LengthPenalty(0.6), "groups": groups}
    found = beam(stepper, torch.arange(2), frame(7, 4), **settings, record=True)
    without = beam(stepper, torch.arange(2), frame(7, 4), **settings)
    for source, (some, other) in enumerate(zip(found, without, strict=True)):
        assert other.tree is None
        assert [one.tokens for one in some.hypotheses] == [one.tokens for one in other.hypotheses]
        nodes = some.tree.nodes
        paths = []
        for number, node in enumerate(nodes):
            assert node.parent is None or node.parent < number
            before = nodes[node.parent] if node.parent is not None else None
            assert before is None or before.fate == KEPT  # only what is kept goes on
            assert node.step == (before.step + 1 if before else 1)
            paths.append((*(paths[node.parent] if before else ()), node.piece))
            assert node.score == pytest.approx(score(stepper, source, paths[-1]), abs=1e-5)
        finished = {path: node for path, node in zip(paths, nodes, strict=True) if node.fate == FINISHED}
        for one in some.hypotheses:
            if one.finished:
                assert finished[one.tokens].score == one.score
                assert finished[one.tokens].rank == one.rank
        assert {node.fate for node in nodes} == {KEPT, PRUNED, FINISHED}
        for step in range(1, max(node.step for node in nodes) + 1):
            assert sum(node.fate == KEPT for node in nodes if node.step == step) <= 4


def score(stepper: TableStepper, source: int, path: tuple[int, ...]) -> float:
    fed = (0, BEGIN, *path)
    return sum(float(stepper.tables[source, fed[n], fed[n + 1], piece]) for n, piece in enumerate(path))


def test_coverage_is_nothing_when_all_was_seen_and_padding_does_not_count() -> None:
    looks = torch.tensor([[1.0, 2.0, 0.0], [0.5, 1.0, 0.0]])
    mask = torch.tensor([[True, True, False]] * 2)
    found = Coverage(2.0)(looks, mask)
    assert found.tolist() == pytest.approx([0.0, 2 * torch.tensor(0.5).log().item()])


class Blind(TableStepper):
    """A table that has no attention."""

    def step(self, tokens: torch.Tensor, state: TableState) -> StepOutput[TableState]:
        return replace(super().step(tokens, state), attention={})


class Layered(TableStepper):
    """With a second layer, which never sees the source."""

    def step(self, tokens: torch.Tensor, state: TableState) -> StepOutput[TableState]:
        output = super().step(tokens, state)
        look = output.attention["cross"]  # rows 1 1 S
        return replace(output, attention={"cross": torch.cat([look, torch.zeros_like(look)], dim=1)})


def covering(strength: float = 0.7) -> tuple[Coverage, torch.Tensor]:
    return Coverage(strength), torch.ones(3, 4, dtype=torch.bool)


def test_coverage_of_a_model_that_never_looks_is_refused_with_a_sentence() -> None:
    stepper = Blind(TableStepper.random(3, vocabulary=5, seed=1).tables)
    with pytest.raises(UserError, match=r"never looks at its source.*coverage to 0"):
        beam(stepper, torch.arange(3), frame(4, 4, 4), width=2, coverage=covering())
    both = Ensemble([stepper, TableStepper.random(3, 5, seed=1, looks=4)])  # one that looks is enough
    found = beam(both, [torch.arange(3)] * 2, frame(4, 4, 4), width=2, coverage=covering())
    assert all(one.hypotheses for one in found)


def test_layers_that_see_nothing_of_the_source_do_not_count_in_coverage() -> None:
    plain = TableStepper.random(3, vocabulary=5, seed=1, looks=4)
    layered = Layered(plain.tables, plain.looks)
    found, expected = (
        beam(one, torch.arange(3), frame(6, 6, 6), width=4, best=3, coverage=covering())
        for one in (layered, plain)
    )
    for some, others in zip(found, expected, strict=True):
        assert [one.tokens for one in some.hypotheses] == [one.tokens for one in others.hypotheses]
        ranks = [one.rank for one in others.hypotheses]
        assert [one.rank for one in some.hypotheses] == pytest.approx(ranks, abs=1e-5)
