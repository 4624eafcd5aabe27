import pytest

from regard.data import Pair, Spread, look, looking

PAIRS = [
    Pair("ein Hund", "a dog"),
    Pair("ein Hund", "one dog"),
    Pair("ein Hund", "a dog"),
    Pair(" ", "nothing"),
    Pair("Auto", " Auto"),
    Pair("Straßenbahnhaltestelle", "х"),
]


def test_what_is_seen_is_counted() -> None:
    seen = look(PAIRS)
    assert (seen.pairs, seen.empty, seen.identical, seen.duplicates) == (6, 1, 1, 1)
    assert (seen.usable(identical=False), seen.usable(identical=True)) == (3, 4)
    assert len(seen.sources) == 3
    assert list(seen.sample) == [pair for pair in PAIRS if pair.source != " "]
    assert seen.source.characters.counts == {8: 3, 4: 1, 22: 1}
    assert seen.target.words.counts == {2: 3, 1: 2}
    assert seen.target.alphabet == len(set("a dogone Autoх"))
    assert seen.longest_word.counts == {4: 4, 22: 1}
    # (22 - 10) / 1 for the last pair; all others are within ten characters.
    assert seen.ratio.counts == {0: 4, 120: 1}


def test_scripts_are_shares_of_letters_and_rare_ones_are_not_the_main_ones() -> None:
    seen = look([Pair("я" + "a" * 99, "漢字かな 12")])
    assert seen.source.scripts == {"Latin": 0.99, "Cyrillic": 0.01}
    assert seen.source.main_scripts == ["Latin"]
    assert seen.target.scripts == {"Han": 0.5, "Hiragana": 0.5}


def test_sources_that_two_parts_share_are_counted_once() -> None:
    held = [Pair("ein Hund", "a hound"), Pair("ein Hund", "dog"), Pair("neu", "new")]
    assert look(PAIRS).sources_shared_with(look(held)) == 1
    assert look(PAIRS[:1]).sources_shared_with(look([Pair("ein", "Hund")])) == 0


def test_a_sample_is_drawn_from_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "SAMPLE", 200)
    sample = look(Pair(f"{number}", "x") for number in range(2000)).sample
    numbers = sorted(int(pair.source) for pair in sample)
    assert len(set(numbers)) == 200
    assert 70 < sum(number >= 1000 for number in numbers) < 130


def test_nothing_to_look_at_is_no_mistake() -> None:
    seen = look([])
    assert (seen.pairs, seen.usable(identical=False), seen.source.scripts) == (0, 0, {})
    assert seen.source.characters.mean == 0


def test_an_identical_pair_that_came_before_is_taken_off_once() -> None:
    seen = look([Pair("Auto", "Auto")] * 3 + [Pair("ein Hund", "a dog")])
    assert (seen.identical, seen.duplicates) == (3, 2)
    assert (seen.usable(identical=False), seen.usable(identical=True)) == (1, 2)


def test_white_space_and_spellings_of_unicode_make_no_other_text() -> None:
    seen = look([Pair("ein Café", "a café"), Pair(" ein  Cafe\u0301\u00a0", "a cafe\u0301")])
    assert (seen.duplicates, len(seen.sources)) == (1, 1)


@pytest.mark.parametrize(("share", "number"), [(0.5, 5), (0.9, 5), (0.95, 7), (0.951, 30), (1.0, 30)])
def test_a_number_covers_its_share(share: float, number: int) -> None:
    assert Spread({5: 90, 30: 5, 7: 5}).covering(share) == number
