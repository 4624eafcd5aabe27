import pytest

from regard.alignments import Gold, Links, agreement
from regard.core.errors import UserError


def links(*pairs: tuple[int, int]) -> Links:
    return frozenset(pairs)


def gold(sure: Links, possible: Links = frozenset()) -> Gold:
    return Gold(sure, sure | possible)


def values(found: list[Links], people: list[Gold]) -> tuple[float, ...]:
    return tuple(score.value for score in agreement(found, people).values())


def test_a_corpus_worked_out_by_hand() -> None:
    people = [
        gold(links((0, 0), (1, 1)), links((2, 1), (2, 2))),
        gold(links((0, 1), (1, 0), (2, 2))),
    ]
    found = [links((0, 0), (2, 1), (3, 3)), links((0, 1), (1, 0), (1, 2))]
    # A 6, S 5. First pair: sure 1, possible 2. Second: sure 2, possible 2. A∩S 3, A∩P 4.
    error_rate, precision, recall = values(found, people)
    assert error_rate == pytest.approx(100 * (1 - (3 + 4) / (6 + 5)))
    assert precision == pytest.approx(100 * 4 / 6)
    assert recall == pytest.approx(100 * 3 / 5)


def test_all_sure_and_any_possible_links_are_faultless() -> None:
    people = [gold(links((0, 0)), links((0, 1), (1, 0)))]
    assert values([links((0, 0))], people) == (0, 100, 100)
    assert values([links((0, 0), (1, 0))], people) == (0, 100, 100)


def test_with_sure_links_only_the_error_rate_is_one_minus_f() -> None:
    people = [gold(links((0, 0), (1, 1), (2, 2), (3, 3)))]
    error_rate, precision, recall = values([links((0, 0), (1, 1), (2, 3))], people)
    assert error_rate == pytest.approx(100 - 2 * precision * recall / (precision + recall))


def test_no_links_and_wrong_links_are_all_error() -> None:
    people = [gold(links((0, 0)))]
    assert values([links()], people) == (100, 0, 0)
    assert values([links((1, 1))], people) == (100, 0, 0)


def test_links_count_for_their_own_pair_only() -> None:
    people = [gold(links((0, 0))), gold(links((1, 1)))]
    assert values([links((1, 1)), links((0, 0))], people) == (100, 0, 0)


def test_scores_say_what_they_were_made_of() -> None:
    scores = agreement([links()], [gold(links((0, 0)), links((1, 1)))], made="by:argmax")
    assert list(scores) == ["alignment_error_rate", "alignment_precision", "alignment_recall"]
    assert [score.higher_is_better for score in scores.values()] == [False, True, True]
    for name, score in scores.items():
        assert score.name == name
        assert score.signature.startswith("by:argmax|sure:1|possible:2|version:regard-")


def test_without_a_sure_link_there_is_nothing_to_score() -> None:
    with pytest.raises(UserError, match="no sure link"):
        agreement([links((0, 0))], [gold(links(), links((0, 0)))])


def test_as_many_alignments_as_gold_are_needed() -> None:
    with pytest.raises(ValueError, match="1 alignments but gold for 0"):
        agreement([links()], [])
