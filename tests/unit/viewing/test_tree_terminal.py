from dataclasses import replace

from regard.core.prediction import AttentionRecord, BeamNode, Prediction
from regard.viewing import terminal
from regard.viewing.tree_terminal import MOST, tree_terminal


def test_the_answer_runs_down_the_left_and_the_rest_branches_off(small_beam: Prediction) -> None:
    assert tree_terminal(small_beam).split("\n") == [
        "The beam: 8 hypotheses in 3 steps: 4 kept, 2 finished, 2 pruned.",
        "",
        "step     score  ┬",
        "   1    -0.125  ├─○ a",
        "   2    -1.500  │ ├─✓ </s>  rank -1.250",
        "   2    -1.000  │ ○ y",
        "   3    -2.000  │ × </s>",
        "   1    -3.000  ├─× c",
        "   1    -0.500  ● b",
        "   2    -0.625  ● x",
        "   3    -0.750  ✓ </s>  the answer, rank -0.375",
        "",
        "● answer   ○ kept   × pruned   ✓ finished",
    ]


def test_the_tree_stands_under_the_map(small_beam: Prediction) -> None:
    alone = terminal(replace(small_beam, beam=None))
    assert terminal(small_beam) == f"{alone}\n\n{tree_terminal(small_beam)}"
    without = replace(small_beam, attention=replace(small_beam.attention, weights={}))
    assert terminal(without).endswith(tree_terminal(small_beam))


def test_a_large_beam_is_bounded_and_says_what_is_left_out(random_beam) -> None:
    prediction = random_beam(1, width=40, steps=30)
    count = len(prediction.beam)
    lines = tree_terminal(prediction).split("\n")
    assert len(lines) == MOST + 6
    assert lines[-3] == f"… {count - MOST:,} of {count:,} hypotheses left out here."
    assert sum("the answer" in line for line in lines) == 1


def test_a_long_answer_is_there_to_its_end() -> None:
    length = 5 * MOST
    chain = [
        BeamNode(step - 1 if step else None, "a", -step, -1.0, "kept", step + 1) for step in range(length)
    ]
    others = [BeamNode(step, "b", -step - 2, -1.0, "pruned", step + 2) for step in range(length - 1)]
    record = AttentionRecord(("s",), ("a",) * length, {})
    prediction = Prediction(
        "s", "a" * length, ("a",) * length, 1.0 - length, record, finished=False, beam=(*chain, *others)
    )
    lines = tree_terminal(prediction).split("\n")
    assert len(lines) == length + 6
    assert f"{length:4} {1 - length:9.3f}  ● a  the answer" in lines[-4]


def test_control_characters_of_a_piece_do_not_reach_the_terminal(small_beam: Prediction) -> None:
    nodes = tuple(replace(node, piece="\x1b[2J\r\n\u202e") for node in small_beam.beam)
    shown = tree_terminal(replace(small_beam, beam=nodes))
    assert not any(ord(letter) < 32 and letter != "\n" for letter in shown)
    assert "\u202e" not in shown
    assert len(shown.split("\n")) == 13
