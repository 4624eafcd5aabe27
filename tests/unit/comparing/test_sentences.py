from regard.comparing.sentences import LONGEST, choose
from regard.core.prediction import AttentionRecord, Prediction


def said(*texts: str) -> list[Prediction]:
    return [Prediction("a", text, (text,), 0.0, AttentionRecord((), (), {})) for text in texts]


def test_from_each_third_of_the_lengths_the_one_they_disagree_on_is_chosen() -> None:
    lengths = [2, 3, 4, 5, 6, 7]
    assert choose(lengths, [said(*"abcdef"), said(*"axcxxf")]) == [1, 3, 4]


def test_very_long_ones_are_shown_where_there_are_no_others() -> None:
    answers = [said(*"abc"), said(*"axc")]
    assert choose([LONGEST + 1, 5, LONGEST + 9], answers) == [1]
    assert choose([LONGEST + 1, LONGEST + 5, LONGEST + 9], answers) == [0, 1, 2]
    assert choose([1, 1, 1], answers) == []
