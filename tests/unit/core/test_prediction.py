import numpy as np
import pytest

from regard.core.errors import UserError
from regard.core.prediction import AttentionRecord
from regard.core.words import Words

#          ▁ein   ▁Hu    nd     </s>
ENCODER = np.array([[[[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0.25, 0.25, 0.5], [0, 0, 0, 1]]]], np.float32)
#         a  b   c   d   (rows), ein Hu nd </s>
CROSS = np.array(
    [[[[0.5, 0.25, 0.25, 0], [0.25, 0, 0.5, 0.25], [0, 0, 0, 1]]], [[[1, 0, 0, 0]] * 3]], np.float32
)
#           <s>  ▁a   dog
DECODER = np.array([[[[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]]]], np.float32)


def record() -> AttentionRecord:
    return AttentionRecord(
        ("▁ein", "▁Hu", "nd", "</s>"),
        ("▁do", "g", "</s>"),
        {"encoder": ENCODER, "cross": CROSS, "decoder": DECODER},
        Words(("ein", "Hund"), ((0,), (1,), (1,), None)),
        Words(("dog",), ((0,), (0,), None)),
    )


def test_any_kind_can_be_seen_as_a_matrix_of_a_layer_or_of_their_mean() -> None:
    np.testing.assert_array_equal(record().matrix("encoder"), ENCODER[0, 0])
    np.testing.assert_array_equal(record().matrix("cross", layer=1, head=0), CROSS[1, 0])
    np.testing.assert_array_equal(record().matrix("cross"), (CROSS[0, 0] + CROSS[1, 0]) / 2)
    np.testing.assert_array_equal(record().cross(layer=0), CROSS[0, 0])


def test_a_kind_layer_or_head_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no attention of the kind 'self'"):
        record().matrix("self")
    with pytest.raises(UserError, match="no layer 2: this model has layers 0 to 1"):
        record().cross(layer=2)
    with pytest.raises(UserError, match="no head -1: this model has one head, head 0"):
        record().matrix("decoder", head=-1)


def test_in_words_columns_add_up_and_rows_are_averaged() -> None:
    words = record().in_words()
    assert words.source_pieces == ("ein", "Hund", "</s>")
    assert words.target_pieces == ("dog", "</s>")
    np.testing.assert_allclose(words.cross(layer=0), [[0.375, 0.5, 0.125], [0, 0, 1]])
    np.testing.assert_allclose(words.cross(layer=1), [[1, 0, 0], [1, 0, 0]])


def test_looks_at_oneself_are_merged_too() -> None:
    words = record().in_words()
    np.testing.assert_allclose(words.matrix("encoder"), [[1, 0, 0], [0, 0.75, 0.25], [0, 0, 1]])
    np.testing.assert_allclose(words.matrix("decoder"), [[0.75, 0.25], [0.25, 0.75]])  # at <s> and dog


def test_of_an_answer_that_was_cut_off_the_last_word_may_have_been_fed_in_part() -> None:
    weights = np.array([[[[1, 0], [0.5, 0.5]]]], np.float32)
    cut = AttentionRecord(
        ("</s>",), ("▁do", "g"), {"decoder": weights}, Words((), (None,)), Words(("dog",), ((0,), (0,)))
    )
    np.testing.assert_allclose(cut.in_words().matrix("decoder"), [[0.75, 0.25]])


def test_a_record_in_words_stays_as_it_is() -> None:
    once = record().in_words()
    again = once.in_words()
    assert (again.source_pieces, again.target_pieces) == (once.source_pieces, once.target_pieces)
    for kind in once.kinds:
        np.testing.assert_array_equal(again.weights[kind], once.weights[kind])


def test_a_record_that_knows_no_words_says_so() -> None:
    with pytest.raises(UserError, match="no attention to read words off"):
        AttentionRecord(("a",), ("b",), {}).in_words()


def test_looks_of_every_kind_can_be_seen_as_if_they_were_at_the_source() -> None:
    assert record().seen("cross") == record()
    itself = record().seen("encoder")
    assert itself.source_pieces == itself.target_pieces == record().source_pieces
    np.testing.assert_array_equal(itself.cross(), ENCODER[0, 0])
    before = record().seen("decoder")
    assert (before.source_pieces, before.target_pieces) == (("<s>", "▁do", "g"), ("▁do", "g", "</s>"))
    np.testing.assert_array_equal(before.cross(), DECODER[0, 0])
    assert before.in_words().source_pieces == ("<s>", "dog")
    words = record().in_words().seen("decoder")
    assert (words.source_pieces, words.target_pieces) == (("<s>", "dog"), ("dog", "</s>"))
    np.testing.assert_allclose(words.cross(), before.in_words().cross())


def test_what_stands_beside_a_source_is_numbered() -> None:
    sensed = AttentionRecord(("0",), ("+1", "+2"), {"context": np.full((1, 1, 2, 3), 1 / 3, np.float32)})
    assert sensed.seen("context").source_pieces == ("1", "2", "3")


def test_of_an_ensemble_the_mean_is_seen() -> None:
    both = AttentionRecord(
        ("a", "b"), ("x",), {f"encoder.{n}": np.full((1, 1, 2, 2), n, np.float32) for n in (1, 2)}
    )
    np.testing.assert_array_equal(both.seen("encoder").cross(), np.full((2, 2), 1.5))


def test_looks_that_are_not_there_are_refused_with_those_that_are() -> None:
    with pytest.raises(UserError, match=r"kind 'context'\. It has: encoder, cross, decoder"):
        record().seen("context")
    with pytest.raises(UserError, match="no looks at all"):
        AttentionRecord(("a",), ("b",), {}).seen("encoder")
