import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import pytest
import sacrebleu

from regard.metrics import Bleu, BleuLowercase, BleuTokenized, Chrf, ChrfWords, Ter

PREDICTIONS = ["the cat sat on the mat", "there is a dog in the garden now", "he said nothing at all ."]
FIRST = ["the cat is sitting on the mat", "a dog is in the garden now", "he said nothing ."]
SECOND = ["a cat sat on the mat", "there is a dog in our garden", "he did not say anything at all ."]

THEIRS = [
    (Bleu, sacrebleu.BLEU),
    (Chrf, sacrebleu.CHRF),
    (ChrfWords, partial(sacrebleu.CHRF, word_order=2)),
    (Ter, sacrebleu.TER),
]


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


def test_chrf_words_counts_words_and_pairs_of_words_too() -> None:
    # "a b" against "a c": characters as in "ab" against "ac", 1/2 and 0; of two words one, of one pair none.
    assert ChrfWords()(["a b"], [["a c"]]).value == pytest.approx(100 * (1 / 2 + 0 + 1 / 2 + 0) / 4)


@pytest.mark.parametrize(
    ("prediction", "edits"),
    [("d e a b c", 1), ("a b c d", 1), ("a b x d e", 1), ("a b c d e f", 1), ("A B C D E", 0), ("x y", 5)],
)
def test_ter_counts_edits_and_a_moved_phrase_is_one(prediction: str, edits: int) -> None:
    assert Ter()([prediction], [["a b c d e"]]).value == pytest.approx(100 * edits / 5)


@pytest.mark.parametrize(("ours", "theirs"), THEIRS)
def test_value_and_signature_are_sacrebleus_own(ours: type, theirs: Callable[[], Any]) -> None:
    metric = theirs()
    expected = metric.corpus_score(PREDICTIONS, [FIRST, SECOND]).score
    score = ours()(PREDICTIONS, list(zip(FIRST, SECOND, strict=True)))
    assert score.value == expected
    assert score.signature == str(metric.get_signature())
    assert score.signature.endswith(f"version:{sacrebleu.__version__}")


@pytest.mark.parametrize(("ours", "theirs"), THEIRS)
def test_examples_may_have_different_numbers_of_references(ours: type, theirs: Callable[[], Any]) -> None:
    expected = theirs().corpus_score(PREDICTIONS, [FIRST, [SECOND[0], None, SECOND[2]]]).score
    score = ours()(PREDICTIONS, [[FIRST[0], SECOND[0]], [FIRST[1]], [FIRST[2], SECOND[2]]])
    assert score.value == expected


def test_a_missing_reference_is_not_an_empty_one() -> None:
    # An empty second reference would be the nearest in length, and the brevity penalty would go.
    predictions, second = ["a b", "s t u v w"], ["s t u v w", "s t u v w x y z"]
    missing = Bleu()(predictions, [["a b c d e f"], second])
    empty = Bleu()(predictions, [["a b c d e f", ""], second])
    assert missing.value < empty.value


def test_lowercase_is_sacrebleus_own() -> None:
    metric = sacrebleu.BLEU(lowercase=True)
    shouted = [text.upper() for text in FIRST]
    expected = metric.corpus_score(PREDICTIONS, [shouted]).score
    score = BleuLowercase()(PREDICTIONS, [[text] for text in shouted])
    assert score.value == expected > Bleu()(PREDICTIONS, [[text] for text in shouted]).value
    assert score.signature == str(metric.get_signature())
    assert "|case:lc|" in score.signature


def multi_bleu(predictions: list[str], references: list[str]) -> float:
    """What multi-bleu.perl does: words between blanks, no smoothing, one reference."""
    right, total, predicted, referred = [0] * 4, [0] * 4, 0, 0
    for words, answer in zip(map(str.split, predictions), map(str.split, references), strict=True):
        predicted, referred = predicted + len(words), referred + len(answer)
        for order in range(1, 5):
            ours = Counter(zip(*(words[start:] for start in range(order)), strict=False))
            theirs = Counter(zip(*(answer[start:] for start in range(order)), strict=False))
            right[order - 1] += (ours & theirs).total()
            total[order - 1] += ours.total()
    if not all(right):
        return 0.0
    precision = math.prod(one / all_ for one, all_ in zip(right, total, strict=True)) ** (1 / 4)
    return 100 * precision * min(1, math.exp(1 - referred / predicted))


def test_tokenized_is_multi_bleu_of_what_the_moses_script_gives() -> None:
    # Cut by hand as tokenizer.perl -l de -no-escape does: z.b. stays whole, so does a word with a dash.
    predictions = ['Ein Mann, z.B. im T-Shirt, läuft "schnell".', "Zwei Hunde spielen (im Schnee)!"]
    references = ["Ein Mann läuft, z.B. im T-Shirt, schnell.", "Zwei Hunde spielen im Schnee!"]
    cut = ['ein mann , z.b. im t-shirt , läuft " schnell " .', "zwei hunde spielen ( im schnee ) !"]
    cut_references = ["ein mann läuft , z.b. im t-shirt , schnell .", "zwei hunde spielen im schnee !"]
    score = BleuTokenized(language="de")(predictions, [[text] for text in references])
    assert score.value == pytest.approx(multi_bleu(cut, cut_references))
    assert 0 < score.value < 100


def test_tokenized_does_not_smooth() -> None:
    # Words and pairs of words in common, but none of three or four.
    assert BleuTokenized()(["a b x c d y"], [["a b z c d w"]]).value == 0
    assert Bleu()(["a b x c d y"], [["a b z c d w"]]).value > 0


@pytest.mark.parametrize(
    ("language", "cut"),
    [
        ("en", "the man 's old dog sleeps here"),
        ("fr", "the man' s old dog sleeps here"),
        ("de", "the man ' s old dog sleeps here"),
    ],
)
def test_tokenized_follows_the_rules_of_the_language(language: str, cut: str) -> None:
    reference = "the man was old dog sleeps here"
    score = BleuTokenized(language=language)(["The man's old dog sleeps here"], [[reference]])
    assert score.value == pytest.approx(multi_bleu([cut], [reference]))


def test_the_signature_of_tokenized_says_how_it_was_cut() -> None:
    score = BleuTokenized(language="pt-BR")(PREDICTIONS, [[text] for text in FIRST])
    assert score.signature == (
        f"nrefs:1|case:lc|eff:no|tok:moses|lang:pt|dash:no|escape:no|sacremoses:{version('sacremoses')}"
        f"|smooth:none|version:{sacrebleu.__version__}"
    )


def test_tokenized_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    # Sacrebleu suspects texts that were cut before.
    BleuTokenized()(["It ends here ."] * 200, [["It ends here ."]] * 200)
    assert caplog.messages == []
