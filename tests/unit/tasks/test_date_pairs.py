import os
import subprocess
import sys
from collections import Counter
from datetime import date

import pytest
from babel.dates import format_date

from regard.core.errors import UserError
from regard.data.pairs import Pair
from regard.tasks.date_formats import CASINGS, DEFAULT_LOCALES, date_formats
from regard.tasks.date_pairs import DateSplits, date_pairs


def some(
    *,
    locales: tuple[str, ...] = DEFAULT_LOCALES,
    pairs: int = 3000,
    validation: int = 200,
    test: int = 300,
    years: tuple[int, int] = (1990, 2029),
    seed: int = 1,
) -> DateSplits:
    return date_pairs(locales=locales, pairs=pairs, validation=validation, test=test, years=years, seed=seed)


def targets(pairs: list[Pair]) -> list[str]:
    return [pair.target for pair in pairs]


def test_the_splits_have_the_sizes_asked_for() -> None:
    splits = some()
    assert (len(splits.train), len(splits.validation), len(splits.test)) == (3000, 200, 300)


def test_no_date_stands_in_two_splits() -> None:
    splits = some(pairs=30_000)
    train, validation, test = (set(targets(part)) for part in (splits.train, splits.validation, splits.test))
    assert not train & validation
    assert not train & test
    assert not validation & test


def test_two_thousand_test_pairs_have_two_thousand_dates() -> None:
    splits = some(test=2000, validation=1000)
    assert len(set(targets(splits.test))) == 2000
    assert len(set(targets(splits.validation))) == 1000


def test_fewer_training_pairs_than_dates_repeat_none() -> None:
    assert len(set(targets(some(pairs=5000).train))) == 5000


def test_more_training_pairs_than_dates_use_every_date_as_evenly_as_possible() -> None:
    counts = Counter(targets(some(years=(2020, 2020), validation=50, test=66, pairs=600).train))
    assert len(counts) == 366 - 50 - 66
    assert set(counts.values()) == {2, 3}


def test_together_the_splits_can_use_up_every_date() -> None:
    splits = some(years=(2019, 2019), pairs=1000, validation=100, test=264)
    seen = {*targets(splits.train), *targets(splits.validation), *targets(splits.test)}
    assert len(seen) == 365
    assert len(set(targets(splits.train))) == 1


def test_years_are_taken_from_the_first_to_the_last() -> None:
    years = Counter(target[:4] for target in targets(some(years=(1999, 2001), pairs=2000).train))
    assert set(years) == {"1999", "2000", "2001"}


def test_every_target_is_an_iso_date_of_ten_characters() -> None:
    splits = some(years=(1900, 2099), pairs=10_000)
    for target in targets(splits.train):
        assert len(target) == 10
        assert date.fromisoformat(target).isoformat() == target


def test_every_source_is_one_of_the_ways_in_which_babel_writes_the_target() -> None:
    forms = date_formats().kept
    for pair in some(pairs=100).train:
        day = date.fromisoformat(pair.target)
        ways = {
            casing(format_date(day, form.pattern, form.locale), form.locale)
            for form in forms
            for casing in CASINGS
        }
        assert pair.source in ways


def test_locales_and_casings_are_drawn_evenly() -> None:
    # Weekdays of two locales with no letter in common tell locale and casing apart.
    train = some(locales=("en", "ru"), pairs=9000).train
    named = [pair.source for pair in train if any(character.isalpha() for character in pair.source)]
    russian = sum(any("а" <= character <= "я" for character in source.lower()) for source in named)
    capitals = sum(source.isupper() for source in named)
    small = sum(source.islower() for source in named)
    assert russian / len(named) == pytest.approx(0.5, abs=0.04)
    assert capitals / len(named) == pytest.approx(1 / 3, abs=0.03)
    assert small / len(named) >= 0.3  # Russian is small as it comes


def test_the_seed_decides() -> None:
    assert some(seed=3) == some(seed=3)
    assert some(seed=3).test != some(seed=4).test
    assert set(targets(some(seed=3).test)) != set(targets(some(seed=4).test))


def test_more_training_pairs_leave_the_other_splits_alone() -> None:
    few, many = some(pairs=10), some(pairs=9000)
    assert (few.validation, few.test) == (many.validation, many.test)
    assert few.train == many.train[:10]


def test_a_larger_test_leaves_validation_alone() -> None:
    assert some(test=10).validation == some(test=500).validation
    assert some(test=10).test == some(test=500).test[:10]


def test_two_processes_draw_the_same_pairs_whatever_their_hash_seed() -> None:
    program = (
        "from regard.tasks.date_pairs import date_pairs; import hashlib;"
        "s = date_pairs(pairs=2000, validation=100, test=100, seed=7);"
        "print(hashlib.sha256(repr((s.train, s.validation, s.test, s.characters)).encode()).hexdigest())"
    )
    digests = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "123")
    ]
    assert digests[0] == digests[1]
    assert len(digests[0].strip()) == 64


def test_the_characters_and_the_longest_source_are_known() -> None:
    splits = some()
    everything = [*splits.train, *splits.validation, *splits.test]
    assert set(splits.characters) == set("".join(pair.source + pair.target for pair in everything))
    assert list(splits.characters) == sorted(set(splits.characters))
    assert len(splits.longest_source) == max(len(pair.source) for pair in everything)
    assert splits.longest_source in {pair.source for pair in everything}


def test_the_splits_print_for_people() -> None:
    assert str(some()).startswith("3000 pairs of dates to train with, 200 to validate, 300 to test; ")
    assert len(repr(some())) < 100


@pytest.mark.parametrize("years", [(1899, 2000), (2000, 2100), (2010, 2009)])
def test_years_outside_the_data_are_refused(years: tuple[int, int]) -> None:
    with pytest.raises(UserError, match=f"{years[0]} to {years[1]} cannot be used.*1900 and 2099"):
        some(years=years)


def test_more_test_dates_than_there_are_dates_are_refused() -> None:
    with pytest.raises(UserError, match="2019 to 2019 has 365 dates"):
        some(years=(2019, 2019), validation=0, test=366)


def test_a_date_must_be_left_to_train_with() -> None:
    with pytest.raises(UserError, match="at least one to train with"):
        some(years=(2019, 2019), validation=100, test=265)


@pytest.mark.parametrize("numbers", [{"pairs": 0}, {"validation": -1}, {"test": -1}])
def test_impossible_numbers_of_pairs_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(UserError, match="Asked for"):
        some(**numbers)


def test_an_unknown_locale_is_refused() -> None:
    with pytest.raises(UserError, match="unknown"):
        some(locales=("en", "xx"))


def test_several_dates_stand_in_one_source_and_none_in_two_splits() -> None:
    made = date_pairs(locales=["en"], pairs=300, validation=40, test=50, together=(1, 3), seed=1)
    seen = {}
    for name, pairs in (("train", made.train), ("validation", made.validation), ("test", made.test)):
        counts = [len(pair.target.split()) for pair in pairs]
        assert counts == [len(pair.source.split("; ")) for pair in pairs]
        assert set(counts) == {1, 2, 3}
        seen[name] = {day for pair in pairs for day in pair.target.split()}
    assert (len(made.train), len(made.validation), len(made.test)) == (300, 40, 50)
    assert not seen["train"] & seen["test"]
    assert not seen["train"] & seen["validation"]
    assert not seen["validation"] & seen["test"]


def test_no_format_has_what_separates_dates() -> None:
    made = date_pairs(pairs=3000, validation=0, test=0, seed=1)
    assert not any(";" in pair.source for pair in made.train)
