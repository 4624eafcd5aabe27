import pytest

from regard.text import NO_TAGS, Tags

TAGS = Tags(("de", "fr", "back"), first=100)


def test_ids_come_after_those_of_the_tokenizer() -> None:
    assert len(TAGS) == 3
    assert TAGS.ids(("fr", "back")) == [101, 102]
    assert TAGS.ids(()) == []


def test_a_tag_that_is_not_known_is_a_mistake_of_the_program() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        TAGS.ids(("en",))


@pytest.mark.parametrize(
    ("row", "names"),
    [([101, 102, 7, 3], ("<fr>", "<back>")), ([7, 100, 3], ()), ([100], ("<de>",)), ([], ())],
)
def test_only_tags_at_the_start_of_a_row_count(row: list[int], names: tuple[str, ...]) -> None:
    assert TAGS.before(row) == len(names)
    assert TAGS.shown(row) == names


def test_without_tags_nothing_stands_before_a_row() -> None:
    assert NO_TAGS.before([5, 6]) == 0
    assert NO_TAGS.shown([5, 6]) == ()


def test_ids_beyond_the_tags_are_none() -> None:
    tags = Tags(("de", "fr"), first=10)
    assert tags.shown([11, 12, 3]) == ("<fr>",)  # 12 is a word that was borrowed
