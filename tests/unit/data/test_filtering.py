from collections.abc import Iterable
from dataclasses import fields

import numpy as np
import pytest

from regard.core.errors import UserError
from regard.data import FilteredPairs, Filters, Pair, PairReport
from regard.data.filtering import repeated


def test_a_report_adds_up() -> None:
    report = PairReport(1, 2, 3, 4) + PairReport(10, 20, 30, 40)
    assert report == PairReport(kept=11, empty=22, source_too_long=33, target_too_long=44)
    assert report.total == 110


def test_a_report_names_only_what_was_left_out() -> None:
    assert str(PairReport(kept=1_000)) == "1,000 pairs"
    assert str(PairReport(kept=1_000, empty=2, target_too_long=3)) == (
        "1,000 of 1,005 pairs (left out: 2 with an empty side, 3 with a target too long)"
    )


GOOD = Pair("ein Hund", "a dog")


@pytest.mark.parametrize(
    ("filters", "left_out", "stays", "reason"),
    [
        (Filters(empty=True), Pair(" \u2028", "a"), GOOD, "with an empty side"),
        (
            Filters(identical=True),
            Pair("a dog", " a dog "),
            Pair("a", "A"),
            "with the same text on both sides",
        ),
        (Filters(max_characters=8), Pair("a", "a" * 9), Pair("a", "a" * 8), "with too many characters"),
        # Two characters may become 2 · 3 + 10 = 16.
        (
            Filters(max_ratio=3),
            Pair("ab", "a" * 17),
            Pair("ab", "a" * 16),
            "with sides of too different lengths",
        ),
        (Filters(max_ratio=3), Pair("a" * 11, ""), Pair("", "a" * 10), None),
        (Filters(max_ratio=3), Pair("a" * 14, ""), Pair("", "a" * 13), "with sides of too different lengths"),
        (Filters(max_word=4), Pair("a", "b ccccc"), Pair("aaaa bbbb", "c"), "with an over-long word"),
        (
            Filters(source_scripts=("Latin",)),
            Pair("привет, ja", "a"),
            Pair("Straße я 12", "a"),
            "with a source in another script",
        ),
        (
            Filters(target_scripts=("Han", "Hiragana")),
            Pair("a", "hello 12"),
            Pair("a", "これは犬です ok"),
            "with a target in another script",
        ),
        (
            Filters(target_scripts=("Cyrillic",)),
            Pair("a", "犬"),
            Pair("a", "12.5 %"),
            "with a target in another script",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_pair_is_left_out_for_a_reason(
    filters: Filters, left_out: Pair, stays: Pair, reason: str | None
) -> None:
    found = FilteredPairs(lambda: [stays, left_out], filters)
    assert list(found()) == ([stays] if reason else [stays, left_out])
    assert found.report == (f"1 of 2 pairs (left out: 1 {reason})" if reason else "2 pairs")


def test_nothing_is_left_out_unless_asked() -> None:
    odd = [Pair("", ""), Pair("a" * 5000, "b"), Pair("a", "a"), Pair("a", "a"), Pair("я", "犬")]
    found = FilteredPairs(lambda: odd, Filters())
    assert list(found()) == odd
    assert found.report is None


def test_every_filter_is_off_by_default() -> None:
    assert not any(getattr(Filters(), one.name) for one in fields(Filters))


def test_a_pair_is_counted_once_and_only_the_first_of_its_like_stays() -> None:
    pairs = [GOOD, Pair("", "a"), GOOD, Pair("x", "x"), Pair("x", "x"), Pair("ein Hun", "da dog"), GOOD, GOOD]
    found = FilteredPairs(lambda: iter(pairs), Filters(empty=True, identical=True, duplicates=True))
    for _ in range(3):
        assert list(found()) == [GOOD, Pair("ein Hun", "da dog")]
        assert found.report == (
            "2 of 8 pairs (left out: 3 that came before, 2 with the same text on both sides, 1 with an empty side)"
        )


def test_nothing_left_is_told_with_the_reasons() -> None:
    found = FilteredPairs(lambda: [Pair("a", "a")], Filters(identical=True))
    with pytest.raises(UserError, match=r"0 of 1 pairs \(left out: 1 with the same text on both sides\)"):
        list(found())


def test_pairs_that_grow_while_they_are_read_are_refused() -> None:
    versions = iter([[GOOD], [GOOD, Pair("neu", "new")]])

    def read() -> Iterable[Pair]:
        return next(versions)

    with pytest.raises(UserError, match="changed while they were read"):
        list(FilteredPairs(read, Filters(duplicates=True))())


def test_numbers_that_came_before_are_found_like_a_set_finds_them() -> None:
    numbers = np.random.default_rng(1).integers(0, 2**63, 300).tolist() * 2 + [2**64 - 1, 0, 2**64 - 1]
    np.random.default_rng(2).shuffle(numbers)
    seen: set[int] = set()
    expected = []
    for number in numbers:
        expected.append(number in seen)
        seen.add(number)
    assert repeated(np.array(numbers, dtype=np.uint64)).tolist() == expected
    assert repeated(np.array([], dtype=np.uint64)).tolist() == []
