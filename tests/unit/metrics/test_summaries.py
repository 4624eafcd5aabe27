"""What summaries are scored by and described with. Expected values are worked out by hand."""

import math

import pytest

from regard.metrics import METRICS, TRAITS, interval, perplexity

REFERENCE = "the cats sat on the mat"
ANSWER = "the cat sat on a mat"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rouge_1", 100 * 5 / 6),  # the, cat (stemmed), sat, on, mat: 5 of 6 on both sides
        ("rouge_2", 100 * 3 / 5),  # the cat, cat sat, sat on: 3 of 5 on both sides
        ("rouge_l", 100 * 5 / 6),  # the cat sat on ... mat
    ],
)
def test_rouge_counts_what_is_shared(name: str, value: float) -> None:
    assert METRICS[name]()([ANSWER], [[REFERENCE]]).value == pytest.approx(value)


def test_rouge_is_the_mean_of_the_answers_and_takes_the_nearest_reference() -> None:
    score = METRICS["rouge_1"]()([ANSWER, "x"], [["nothing", REFERENCE], ["y"]])
    assert score.value == pytest.approx(100 * 5 / 6 / 2)
    assert "stem:porter" in score.signature


def test_novelty_is_the_share_of_sequences_that_the_source_lacks() -> None:
    sources, answers = ["A big dog, seen from afar.", "one two"], ["the dog seen from here", "one two"]
    assert TRAITS["novelty_1"](sources, answers).score().value == pytest.approx(100 * 2 / 7)  # the, here
    assert TRAITS["novelty_2"](sources, answers).score().value == pytest.approx(
        100 * 2 / 5
    )  # the dog, from here
    assert TRAITS["novelty_3"](["a"], ["a b"]).score().value == 0.0  # nothing so long was said
    assert TRAITS["novelty_2"](["a b"], ["a , b"]).score().value == 0.0  # a comma is no word


def test_length_is_in_words() -> None:
    tally = TRAITS["length"](["x"] * 2, ["one two three", ""])
    assert tally.score().value == 1.5
    assert interval(tally).low >= 0


def test_perplexity_weighs_answers_by_their_pieces() -> None:
    tally = perplexity([-2.0, -4.0], [1, 5])
    assert tally.score().value == pytest.approx(math.e)
    assert perplexity([-math.inf], [3]).score().value == pytest.approx(math.exp(700))


def test_rouge_of_another_language_counts_words_of_any_script() -> None:
    russian = METRICS["rouge_l"](language="ru")(["Дом стоит"], [["дом стоит там"]])
    assert russian.value == pytest.approx(100 * 2 * (1 * 2 / 3) / (1 + 2 / 3))
    assert "tok:unicode" in russian.signature
    assert METRICS["rouge_1"](language="de")(["Häuser"], [["häuser"]]).value == 100
    assert METRICS["rouge_1"](language="de")(["Häuser"], [["H user"]]).value == 0
    hindi = METRICS["rouge_1"](language="hi")(["हिन्दी में"], [["हिन्दी"]])  # vowel signs are part of words
    assert hindi.value == pytest.approx(100 * 2 / 3)


def test_rouge_that_finds_no_word_says_so(caplog: pytest.LogCaptureFixture) -> None:
    assert METRICS["rouge_l"]()(["a"], [["!"]]).value == 0
    assert not caplog.messages
    assert METRICS["rouge_l"]()(["Дом"], [["дом"]]).value == 0
    (said,) = caplog.messages
    assert "rouge_l finds no word in the right answers" in said
    assert "task.language" in said


def test_bleu_cuts_chinese_as_sacrebleu_does() -> None:
    found = METRICS["bleu"](language="zh-TW")(["我爱你们大家"], [["我爱你们大家"]])
    assert found.value == pytest.approx(100)
    assert "tok:zh" in found.signature
    assert "tok:13a" in METRICS["bleu"](language="de")(["ein Haus"], [["ein Haus"]]).signature
