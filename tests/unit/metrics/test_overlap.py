import math

import pytest
import sacrebleu

from regard.metrics import Bleu, Chrf

PREDICTIONS = ["the cat sat on the mat", "there is a dog in the garden now", "he said nothing at all ."]
FIRST = ["the cat is sitting on the mat", "a dog is in the garden now", "he said nothing ."]
SECOND = ["a cat sat on the mat", "there is a dog in our garden", "he did not say anything at all ."]


def test_bleu_agrees_with_a_hand_calculation() -> None:
    # Shared 1-, 2-, 3- and 4-grams: 5 of 6, 4 of 5, 3 of 4, 2 of 3; equal lengths, so no brevity penalty.
    expected = 100 * math.prod([5 / 6, 4 / 5, 3 / 4, 2 / 3]) ** (1 / 4)
    assert Bleu()(["a b c d e x"], [["a b c d e f"]]).value == pytest.approx(expected)


def test_a_short_answer_pays_the_brevity_penalty() -> None:
    expected = 100 * math.exp(1 - 8 / 4)  # all its n-grams are right, but it is 4 words of 8
    assert Bleu()(["a b c d"], [["a b c d e f g h"]]).value == pytest.approx(expected)


def test_bleu_without_any_sequence_of_four_words_is_0() -> None:
    assert Bleu()(["hello world"], [["hello world"]]).value == 0


def test_chrf_agrees_with_a_hand_calculation() -> None:
    # "ab" against "ac": one of two characters and no pair; longer sequences do not exist and are left out.
    # Precision = recall = F = (1/2 + 0) / 2.
    assert Chrf()(["ab"], [["ac"]]).value == pytest.approx(25)


@pytest.mark.parametrize(("ours", "theirs"), [(Bleu, sacrebleu.BLEU), (Chrf, sacrebleu.CHRF)])
def test_value_and_signature_are_sacrebleus_own(ours: type, theirs: type) -> None:
    metric = theirs()
    expected = metric.corpus_score(PREDICTIONS, [FIRST, SECOND]).score
    score = ours()(PREDICTIONS, list(zip(FIRST, SECOND, strict=True)))
    assert score.value == expected
    assert score.signature == str(metric.get_signature())
    assert score.signature.endswith(f"version:{sacrebleu.__version__}")


@pytest.mark.parametrize(("ours", "theirs"), [(Bleu, sacrebleu.BLEU), (Chrf, sacrebleu.CHRF)])
def test_examples_may_have_different_numbers_of_references(ours: type, theirs: type) -> None:
    expected = theirs().corpus_score(PREDICTIONS, [FIRST, [SECOND[0], None, SECOND[2]]]).score
    score = ours()(PREDICTIONS, [[FIRST[0], SECOND[0]], [FIRST[1]], [FIRST[2], SECOND[2]]])
    assert score.value == expected


def test_a_missing_reference_is_not_an_empty_one() -> None:
    # An empty second reference would be the nearest in length, and the brevity penalty would go.
    predictions, second = ["a b", "s t u v w"], ["s t u v w", "s t u v w x y z"]
    missing = Bleu()(predictions, [["a b c d e f"], second])
    empty = Bleu()(predictions, [["a b c d e f", ""], second])
    assert missing.value < empty.value
