import pytest

from regard.text.rarity import Seen, rarest_words

TRAINED_ON = ["The cat sat.", "The dog sat, too!", "«The» cat"]


@pytest.mark.parametrize(
    ("text", "rarest"),
    [
        ("The cat sat", Seen("cat", 2)),
        ("The dog", Seen("dog", 1)),
        ("The zebra sat", Seen("zebra", 0)),
        ("(The) sat?", Seen("sat", 2)),
        ("the cat", Seen("the", 0)),
        ("The The", Seen("The", 3)),
        ("", None),
        ("… — !?", None),
    ],
)
def test_the_word_that_was_seen_least_often_counts(text: str, rarest: Seen | None) -> None:
    assert rarest_words([text], TRAINED_ON) == [rarest]


def test_the_first_of_equally_rare_words_is_named() -> None:
    assert rarest_words(["emu gnu"], []) == [Seen("emu", 0)]


def test_case_does_not_count_where_the_model_reads_small_letters() -> None:
    assert rarest_words(["THE Cat"], TRAINED_ON, lowercase=True) == [Seen("cat", 2)]


def test_what_stands_inside_a_word_belongs_to_it() -> None:
    assert rarest_words(["T-shirt", "don't", "हिन्दी।"], ["T-shirt don't हिन्दी"]) == [
        Seen("T-shirt", 1),
        Seen("don't", 1),
        Seen("हिन्दी", 1),
    ]
