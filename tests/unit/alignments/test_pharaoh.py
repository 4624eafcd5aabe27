from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.alignments import Gold, check_gold, read_gold, read_links, write_links
from regard.core.errors import UserError
from regard.data import Pair


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gold.txt"


def test_a_line_holds_sure_and_possible_links(path: Path) -> None:
    path.write_text("0-0 1-2 2p1 3?3\n\n10-7  0-0\t1p1\r\n")
    first, second, third = read_gold(path)
    assert first == Gold(frozenset({(0, 0), (1, 2)}), frozenset({(0, 0), (1, 2), (2, 1), (3, 3)}))
    assert second == Gold(frozenset(), frozenset())
    assert third.sure == {(10, 7), (0, 0)}


def test_a_link_that_is_both_is_sure(path: Path) -> None:
    path.write_text("1p1 1-1\n")
    assert read_gold(path) == [Gold(frozenset({(1, 1)}), frozenset({(1, 1)}))]


def test_links_are_written_in_order_and_an_empty_alignment_is_an_empty_line(path: Path) -> None:
    write_links([frozenset({(10, 0), (2, 1), (0, 5)}), frozenset()], path)
    assert path.read_text() == "0-5 2-1 10-0\n\n"


@given(st.lists(st.frozensets(st.tuples(st.integers(0, 999), st.integers(0, 999)), max_size=9)))
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, alignments: list[frozenset[tuple[int, int]]]
) -> None:
    path = tmp_path_factory.mktemp("links") / "links.txt"
    write_links(alignments, path)
    assert read_links(path) == alignments
    assert [gold.sure for gold in read_gold(path)] == alignments


@pytest.mark.parametrize(
    "word", ["1", "1-", "-1", "1--2", "1-2-3", "a-b", "1:2", "1–2", "1P2", "١-٢", "9" * 5000 + "-1"]
)
def test_a_line_that_is_wrong_is_named(path: Path, word: str) -> None:
    path.write_text(f"0-0\n0-0 {word} 1-1\n")
    for read in (read_gold, read_links):
        with pytest.raises(UserError, match=r"gold\.txt, line 2: .* is no link"):
            read(path)


@pytest.mark.parametrize("word", ["1p2", "1?2"])
def test_a_possible_link_is_for_people_only(path: Path, word: str) -> None:
    path.write_text(f"{word}\n")
    with pytest.raises(UserError, match=r"line 1: .* is no link"):
        read_links(path)


PAIRS = [Pair("the red dog", "der Hund rot"), Pair("yes", "ja wohl")]


def gold(*lines: set[tuple[int, int]]) -> list[Gold]:
    return [Gold(frozenset(), frozenset(line)) for line in lines]


def test_gold_that_fits_its_pairs_passes(path: Path) -> None:
    check_gold(gold({(2, 2), (0, 0)}, {(0, 1)}), PAIRS, path)


@pytest.mark.parametrize("count", [1, 3])
def test_other_counts_of_lines_and_pairs_are_refused(path: Path, count: int) -> None:
    with pytest.raises(UserError, match=rf"gold\.txt has {count} lines, but there are 2 pairs"):
        check_gold(gold(*[{(0, 0)}] * count), PAIRS, path)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ((1, 0), "source word 1, but this source has 1 words"),
        ((0, 2), "target word 2, but this target has 2"),
    ],
)
def test_a_word_that_is_not_there_is_refused(path: Path, link: tuple[int, int], said: str) -> None:
    with pytest.raises(UserError, match=rf"line 2: .*{said}"):
        check_gold(gold({(0, 0)}, {link}), PAIRS, path)
