from dataclasses import replace

import pytest

from regard.core.prediction import BeamNode, Prediction
from regard.viewing.tree import BeamTree, beam_tree

BEAMS = [(seed, width, steps) for seed in range(5) for width, steps in ((1, 1), (2, 6), (5, 12), (12, 30))]


def tree_of(prediction: Prediction, most: int = 10**6) -> BeamTree:
    tree = beam_tree(prediction, most)
    assert tree is not None
    return tree


@pytest.fixture(params=BEAMS, ids=str)
def drawn(request, random_beam) -> BeamTree:
    seed, width, steps = request.param
    return tree_of(random_beam(seed, width=width, steps=steps))


def test_every_node_stands_once_in_the_column_of_its_step(drawn: BeamTree) -> None:
    found = [(step, number) for step, column in enumerate(drawn.columns, start=1) for number in column]
    assert sorted(found) == sorted((node.step, number) for number, node in enumerate(drawn.nodes))


def test_no_two_nodes_of_a_step_share_a_row(drawn: BeamTree) -> None:
    places = [(drawn.nodes[number].step, row) for number, row in drawn.rows.items()]
    assert len(places) == len(set(places)) == len(drawn.nodes)


def test_no_edges_cross(drawn: BeamTree) -> None:
    rows = drawn.rows
    for column in drawn.columns[1:]:
        edges = sorted((rows[drawn.nodes[number].parent], rows[number]) for number in column)
        assert [goal for _, goal in edges] == sorted(goal for _, goal in edges)


def test_the_drawing_is_little_higher_than_its_fullest_step(drawn: BeamTree) -> None:
    assert min(drawn.rows.values()) >= 0
    assert max(drawn.rows.values()) < max(map(len, drawn.columns)) + 4


def test_the_answer_runs_along_the_top(drawn: BeamTree) -> None:
    assert drawn.answer
    assert {drawn.rows[number] for number in drawn.answer} == {0}


@pytest.mark.parametrize(("seed", "most"), [(seed, most) for seed in range(5) for most in (1, 5, 40, 300)])
def test_a_bounded_tree_is_a_tree_with_the_whole_answer(random_beam, seed: int, most: int) -> None:
    whole = tree_of(random_beam(seed, width=8, steps=25))
    tree = tree_of(random_beam(seed, width=8, steps=25), most)
    assert set(tree.answer) == set(whole.answer) <= tree.shown
    assert len(tree.shown) <= max(most, len(tree.answer))
    assert all(tree.nodes[number].parent in {None, *tree.shown} for number in tree.shown)
    assert tree.left_out == len(whole.nodes) - len(tree.shown) > 0
    assert sorted(number for column in tree.columns for number in column) == sorted(tree.shown)
    assert set(tree.rows) == tree.shown


def test_what_finished_is_shown_before_what_was_pruned(small_beam: Prediction) -> None:
    assert tree_of(small_beam, 3).shown == {1, 3, 6}
    assert tree_of(small_beam, 5).shown == {1, 3, 6, 0, 5}  # the other answer with what it goes on from
    assert tree_of(small_beam, 6).shown == {1, 3, 6, 0, 5, 4}  # then the closest to the best of its step
    assert tree_of(small_beam, 7).left_out == 1


def test_the_answer_is_found_where_it_is_not_the_best_of_each_step(small_beam: Prediction) -> None:
    assert tree_of(small_beam).answer == (1, 3, 6)


def test_of_the_same_pieces_twice_the_answer_is_that_with_its_score(small_beam: Prediction) -> None:
    nodes = (*small_beam.beam, BeamNode(3, "</s>", -0.8, -0.4, "finished", 3))  # as groups of a beam may have
    assert tree_of(replace(small_beam, beam=nodes)).answer == (1, 3, 6)
    assert tree_of(replace(small_beam, beam=nodes, score=-0.8)).answer == (1, 3, 8)


def test_an_answer_that_is_not_in_the_tree_has_no_path(small_beam: Prediction, predict) -> None:
    tree = tree_of(replace(predict(["s"], ["q"]), beam=small_beam.beam))
    assert tree.answer == ()
    assert len(tree.rows) == 8


def test_a_tree_sums_itself_up(small_beam: Prediction) -> None:
    assert tree_of(small_beam).summary == "8 hypotheses in 3 steps: 4 kept, 2 finished, 2 pruned."


def test_no_record_is_no_tree(two_by_three: Prediction) -> None:
    assert beam_tree(two_by_three, 10) is None
    assert beam_tree(replace(two_by_three, beam=()), 10) is None
