import jiwer
import pytest

from regard.metrics import PhonemeErrorRate, PronunciationErrorRate


def rate(predictions: list[str], references: list[list[str]]) -> float:
    return PhonemeErrorRate()(predictions, references).value


def share(predictions: list[str], references: list[list[str]]) -> float:
    return PronunciationErrorRate()(predictions, references).value


def test_phonemes_are_mended_as_wholes_not_letter_by_letter() -> None:
    # AH for AE and NG for N: two of five phonemes, though only some of their letters differ.
    assert rate(["K AH T IH NG"], [["K AE T IH N"]]) == 40


def test_the_corpus_counts_edits_and_phonemes_together() -> None:
    assert rate(["B AH", "K AE T S IH T S IH"], [["B AY"], ["K AE T S IH T S IH"]]) == 10


def test_the_nearest_right_pronunciation_counts_and_gives_the_length() -> None:
    # "EY" is one edit from "AH"; of "EY B IY S IY" it is four deletions away.
    assert rate(["EY"], [["AH", "EY B IY S IY"]]) == 100
    assert rate(["T AH M EY T OW"], [["T AH M AA T OW", "T AH M EY T OW"]]) == 0


def test_of_equally_near_pronunciations_the_longest_counts() -> None:
    assert rate(["K AE T"], [["K AE", "K AE T S"]]) == rate(["K AE T"], [["K AE T S", "K AE"]]) == 25


def test_with_one_right_pronunciation_it_is_jiwers_word_error_rate() -> None:
    predictions, references = ["HH AW Z", "", "R IH G AA R D"], ["HH AW S", "AH", "R AH G AA R D Z"]
    expected = 100 * jiwer.wer(references, predictions)
    assert rate(predictions, [[reference] for reference in references]) == pytest.approx(expected)


def test_the_kind_of_white_space_does_not_matter() -> None:
    assert rate([" K  AE\tT "], [["K AE T"]]) == 0
    assert share([" K  AE\tT "], [["K AE T"]]) == 0


def test_a_word_is_wrong_unless_it_is_said_in_one_of_the_right_ways() -> None:
    right = [["T AH M AA T OW", "T AH M EY T OW"], ["K AE T"], ["D AO G", "D AA G"], ["B ER D"]]
    assert share(["T AH M EY T OW", "K AE T S", "D AO G", "B ER D"], right) == 25
    assert share(["KAE T"], [["K AE T"]]) == 100
