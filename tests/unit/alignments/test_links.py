from dataclasses import replace

import numpy as np
import pytest

from regard.alignments import (
    ALIGNERS,
    Argmax,
    Links,
    Threshold,
    align,
    intersection,
    union,
    usual_layer,
    word_looks,
)
from regard.core.errors import UserError
from regard.core.prediction import AttentionRecord
from regard.core.words import Words

#                  the   red   dog
LOOKS = np.array([[0.6, 0.1, 0.3], [0.0, 0.2, 0.5], [0.1, 0.45, 0.45]], np.float32)  # der Hund rot


def links(*pairs: tuple[int, int]) -> Links:
    return frozenset(pairs)


def test_argmax_links_each_target_word_with_what_it_looked_at_most() -> None:
    assert Argmax()(LOOKS) == links((0, 0), (2, 1), (1, 2))


def test_argmax_links_nothing_where_no_word_was_looked_at() -> None:
    assert Argmax()(np.array([[0, 0], [0, 0.1]], np.float32)) == links((1, 1))
    assert Argmax()(np.zeros((2, 0), np.float32)) == links()
    assert Argmax()(np.zeros((0, 2), np.float32)) == links()


def test_a_threshold_links_all_that_reach_it() -> None:
    assert Threshold(0.45)(LOOKS) == links((0, 0), (2, 1), (1, 2), (2, 2))
    assert Threshold(0.5)(LOOKS) == links((0, 0), (2, 1))
    assert Threshold(1.0)(LOOKS) == links()


@pytest.mark.parametrize("least", [0.0, -0.1, 1.1, float("nan")])
def test_a_threshold_that_means_nothing_is_refused(least: float) -> None:
    with pytest.raises(UserError, match="threshold"):
        Threshold(least)


def test_every_aligner_is_called_by_its_name() -> None:
    assert [str(make()).partition("-")[0] for make in ALIGNERS.values()] == list(ALIGNERS)


def test_two_directions_agree_where_one_turned_round_says_the_same() -> None:
    forward, backward = links((0, 0), (2, 1)), links((0, 0), (1, 2), (2, 1))  # backward: target, source
    assert intersection(forward, backward) == links((0, 0), (2, 1))
    assert intersection(links((0, 1)), links((0, 1))) == links()
    assert union(forward, backward) == links((0, 0), (2, 1), (1, 2))


def record(layers: int) -> AttentionRecord:
    """`ein Hund</s>` in three pieces and the mark; in layer n, all look at piece n."""
    weights = np.zeros((layers, 2, 3, 4), np.float32)
    for layer in range(layers):
        weights[layer, 0, :, layer] = 1
        weights[layer, 1, :, 3] = 1
    return AttentionRecord(
        ("▁ein", "▁Hu", "nd", "</s>"),
        ("▁do", "g", "</s>"),
        {"cross": weights},
        Words(("ein", "Hund", "cut"), ((0,), (1,), (1,), None)),
        Words(("dog",), ((0,), (0,), None)),
    )


def test_looks_of_words_leave_marks_out_and_know_words_that_were_cut_off() -> None:
    np.testing.assert_allclose(word_looks(record(1)), [[0.5, 0, 0]])
    np.testing.assert_allclose(word_looks(record(1), head=0), [[1, 0, 0]])
    np.testing.assert_allclose(word_looks(record(1), head=1), [[0, 0, 0]])


def test_the_usual_layer_is_the_last_but_one() -> None:
    assert [usual_layer(record(layers)) for layers in (1, 2, 3)] == [0, 0, 1]
    np.testing.assert_allclose(word_looks(record(3)), [[0, 0.5, 0]])
    np.testing.assert_allclose(word_looks(record(3), layer=0), [[0.5, 0, 0]])


def test_layers_that_never_see_the_source_are_not_the_usual_one() -> None:
    some = record(4)
    for seen, usual in (([1, 3], 1), ([0, 1], 0), ([0, 1, 2], 1), ([2], 2), ([], 0)):
        weights = some.weights["cross"].copy()
        weights[[layer for layer in range(4) if layer not in seen]] = 0
        assert usual_layer(replace(some, weights={"cross": weights})) == usual


def test_a_record_is_aligned_by_argmax_unless_told_otherwise() -> None:
    assert align(record(3), head=0) == links((1, 0))
    assert align(record(3), Threshold(0.6)) == links()


def test_a_layer_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match="no layer 5"):
        align(record(2), layer=5)
