import pytest

from regard.core.errors import UserError
from regard.data import Pair, Splits, split

PAIRS = [Pair(f"source {number % 70}", f"target {number}") for number in range(100)]


def by_source(pair: Pair) -> str:
    return pair.source


def parts(pairs: list[Pair], seed: int = 1) -> Splits[Pair]:
    return split(pairs, validation=15, test=10, seed=seed, key=by_source)


def test_parts_have_the_sizes_asked_for_and_all_pairs() -> None:
    found = parts(PAIRS)
    assert (len(found.train), len(found.validation), len(found.test)) == (75, 15, 10)
    assert sorted(found.train + found.validation + found.test) == sorted(PAIRS)
    assert str(found) == "75 for training, 15 for validation, 10 for test"


def test_no_key_is_in_two_parts() -> None:
    found = parts(PAIRS)
    keys = [{pair.source for pair in part} for part in (found.train, found.validation, found.test)]
    assert not keys[0] & keys[1]
    assert not keys[0] & keys[2]
    assert not keys[1] & keys[2]


def test_the_order_of_the_pairs_does_not_matter_but_the_seed_does() -> None:
    found = parts(PAIRS)
    assert sorted(parts(PAIRS[::-1]).test) == sorted(found.test)
    assert sorted(parts(PAIRS, seed=2).test) != sorted(found.test)
    assert found.train == sorted(found.train, key=PAIRS.index)


def test_keys_are_drawn_by_a_hash_that_every_process_shares() -> None:
    # The order of 0 to 9 by `printf '3\\n0' | b2sum -l 128` and so on starts with 3, 0, 7, 8.
    found = split(list("0123456789"), validation=2, test=2, seed=3, key=str)
    assert (found.validation, found.test) == (["0", "3"], ["7", "8"])


def test_a_key_that_is_too_big_for_a_part_stays_in_training() -> None:
    examples = ["yes"] * 50 + [f"{number}" for number in range(10)]
    found = split(examples, validation=4, test=4, seed=0, key=str)
    assert found.train.count("yes") == 50


def test_too_few_different_keys_are_told_to_the_person() -> None:
    with pytest.raises(UserError, match="test: 10 examples were asked for but only 5 can be set apart"):
        split(["a"] * 90 + list("bcdefghijk"), validation=5, test=10, seed=0, key=str)
    with pytest.raises(UserError, match="validation: 3 examples were asked for but only 2"):
        split(["a", "a", "b", "b"], validation=3, test=0, seed=0, key=str)


def test_nothing_left_for_training_is_told_to_the_person() -> None:
    with pytest.raises(UserError, match="leave none for training"):
        split(list("abcd"), validation=2, test=2, seed=0, key=str)


def test_parts_may_be_empty() -> None:
    assert split(["b", "a"], validation=0, test=0, seed=0, key=str) == Splits(["b", "a"], [], [])
