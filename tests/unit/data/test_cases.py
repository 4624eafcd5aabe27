from regard.data import Case, Pair, by_pair, by_source

PAIRS = [Pair("b", "1"), Pair("a", "2"), Pair("b", "3"), Pair("b", "1")]


def test_by_pair_every_line_is_asked_and_scored_by_itself() -> None:
    assert by_pair(PAIRS) == [
        Case("b", ("1",)),
        Case("a", ("2",)),
        Case("b", ("3",)),
        Case("b", ("1",)),
    ]


def test_by_source_every_source_is_asked_once_with_all_its_right_answers() -> None:
    assert by_source(PAIRS) == [Case("b", ("1", "3")), Case("a", ("2",))]
