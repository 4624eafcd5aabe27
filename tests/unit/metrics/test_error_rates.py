from importlib.metadata import version

import jiwer
import pytest

from regard.metrics import CharacterErrorRate, WordErrorRate


def rate(predictions: list[str], references: list[list[str]]) -> float:
    return CharacterErrorRate()(predictions, references).value


def test_kitten_and_sitting_are_three_edits_in_seven_characters() -> None:
    assert rate(["kitten"], [["sitting"]]) == pytest.approx(100 * 3 / 7)


@pytest.mark.parametrize(("prediction", "expected"), [("acb", 50), ("ab", 50), ("abxycd", 50), ("wxyz", 100)])
def test_one_deletion_insertion_or_substitution_is_one_edit(prediction: str, expected: float) -> None:
    # "acb" -> "abcd": insert b, replace b by d; "ab": insert c and d; "abxycd": delete x and y.
    assert rate([prediction], [["abcd"]]) == expected


def test_the_corpus_counts_edits_and_characters_together_not_the_mean_of_the_examples() -> None:
    # 1 edit in 2 characters and 0 in 8: 1 of 10, where the mean of the examples would be 25.
    assert rate(["ax", "abcdefgh"], [["ab"], ["abcdefgh"]]) == 10


def test_the_nearest_reference_counts() -> None:
    assert rate(["abc"], [["xyz", "abd", "vvvvvv"]]) == pytest.approx(100 / 3)


def test_of_equally_near_references_the_longest_counts() -> None:
    assert rate(["abc"], [["ab", "abcd"]]) == rate(["abc"], [["abcd", "ab"]]) == 25


def test_white_space_counts_at_the_ends_too() -> None:
    assert rate([" abc"], [["abc"]]) == pytest.approx(100 / 3)


def test_an_empty_reference_adds_its_edits_and_no_length() -> None:
    assert rate(["xy", "abcd"], [[""], ["abcd"]]) == 50


def test_when_all_references_are_empty_each_edit_counts_100_as_in_jiwer() -> None:
    assert rate([""], [[""]]) == 0
    assert rate(["xy"], [[""]]) == 200 == 100 * jiwer.cer([""], ["xy"])


def test_with_one_reference_and_no_outer_white_space_it_is_jiwers_own_rate() -> None:
    predictions = ["on sait jamais", "", "quelle heure est il", "żółw"]
    references = ["on ne sait jamais", "rien", "quelle heure est-il ?", "żółwie"]
    expected = 100 * jiwer.cer(references, predictions)
    assert rate(predictions, [[reference] for reference in references]) == pytest.approx(expected)


def test_the_signature_names_the_version_of_jiwer() -> None:
    signature = CharacterErrorRate()(["a"], [["a"]]).signature
    assert signature == f"nrefs:1|case:mixed|space:yes|version:jiwer-{version('jiwer')}"


def word_rate(predictions: list[str], references: list[list[str]]) -> float:
    return WordErrorRate()(predictions, references).value


@pytest.mark.parametrize(
    ("prediction", "edits"), [("a b", 2), ("a b c d", 0), ("a x c d", 1), ("b a c d", 2), ("a b c d e", 1)]
)
def test_words_are_left_out_put_in_and_replaced(prediction: str, edits: int) -> None:
    assert word_rate([prediction], [["a b c d"]]) == 100 * edits / 4


def test_any_white_space_separates_words() -> None:
    assert word_rate(["  a\tb \n c\u3000d "], [["a b  c d"]]) == 0


def test_words_of_the_whole_corpus_count_together_and_the_nearest_reference_counts() -> None:
    # One edit in two words (not in the other reference's three), none in three: 1 of 5.
    assert word_rate(["a x", "d e f"], [["a b", "q r s"], ["d e f"]]) == 20


def test_words_against_nothing_count_100_each_as_in_jiwer() -> None:
    assert word_rate(["x y"], [[" "]]) == 200 == 100 * jiwer.wer([""], ["x y"])
    assert word_rate([""], [[""]]) == 0


def test_with_one_reference_the_word_error_rate_is_jiwers_own() -> None:
    predictions = ["on sait jamais", "", "quelle heure est il"]
    references = ["on ne sait jamais", "rien", "quelle heure est-il ?"]
    expected = 100 * jiwer.wer(references, predictions)
    assert word_rate(predictions, [[reference] for reference in references]) == pytest.approx(expected)
    signature = WordErrorRate()(["a"], [["a"]]).signature
    assert signature == f"nrefs:1|case:mixed|tok:space|version:jiwer-{version('jiwer')}"
