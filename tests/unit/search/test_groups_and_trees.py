import pytest
import torch
from tables import TableStepper

from regard.search import Coverage, Frame, Groups, LengthPenalty, beam
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
