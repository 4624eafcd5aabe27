import numpy as np
import pytest

from regard.core.words import Words, numbered, part


def test_white_space_of_any_kind_and_number_separates_words() -> None:
    assert numbered(" a\u3000 bc\t") == [None, 0, None, None, 1, 1, None]
    assert numbered("") == []
    assert part([None, 1, 1]) == (1,)
    assert part([0, None, 1]) == (0, 1)
    assert part([None]) == ()


def test_blanks_go_with_what_follows_them() -> None:
    words = Words(("a", "b"), ((), (0,), (), (), (1,), (1,), (), None))
    assert words.groups() == {0: [0, 1], 1: [2, 3, 4, 5], ~7: [6, 7]}
    assert words.names(["_", "a", "_", "_", "b", "b", "_", "</s>"]) == ("a", "b", "</s>")


def test_the_last_blanks_of_a_text_without_an_end_mark_go_with_the_last_word() -> None:
    assert Words(("a",), ((0,), (), ())).groups() == {0: [0, 1, 2]}
    assert Words((), ((), ())).groups() == {}


def test_a_piece_that_reaches_over_two_words_is_shared_and_counts_in_both() -> None:
    words = Words(("a", "b"), ((0, 1), (1,)))
    np.testing.assert_array_equal(words.shares(), [[0.5, 0.5], [0, 1]])
    np.testing.assert_array_equal(words.means(), [[1, 0], [0.5, 0.5]])


@pytest.mark.parametrize(
    "words", [Words(("a", "b"), ((0,), (), (1,), None)), Words((), ((),)), Words((), ())]
)
def test_merging_twice_is_merging_once(words: Words) -> None:
    assert words.merged().merged() == words.merged()
    assert len(words.merged().of) == len(words.groups())
