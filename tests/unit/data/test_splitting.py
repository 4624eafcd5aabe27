from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

import numpy as np
import pytest

from regard.core.errors import UserError
from regard.data import Pair, TooFewError
from regard.data.splitting import TEST, TRAIN, VALIDATION, draw
from regard.data.splitting import split as parts_of

Example = TypeVar("Example")

PAIRS = [Pair(f"source {number % 70}", f"target {number}") for number in range(100)]


@dataclass(frozen=True)
class Parts(Generic[Example]):
    train: list[Example]
    validation: list[Example]
    test: list[Example]


def split(
    examples: Sequence[Example],
    *,
    validation: int,
    test: int,
    seed: int,
    key: Callable[[Example], str],
    also: Callable[[Example], str] | None = None,
) -> Parts[Example]:
    """Examples by their part."""

    def draws(key: Callable[[Example], str]) -> "np.ndarray":
        return np.array([draw(key(example), seed) for example in examples], dtype=np.uint64)

    found = parts_of(draws(key), validation=validation, test=test, also=draws(also) if also else None)
    return Parts(
        *(
            [one for one, at in zip(examples, found, strict=True) if at == part]
            for part in (TRAIN, VALIDATION, TEST)
        )
    )


def by_source(pair: Pair) -> str:
    return pair.source


def parts(pairs: list[Pair], seed: int = 1) -> Parts[Pair]:
    return split(pairs, validation=15, test=10, seed=seed, key=by_source)


def test_parts_have_the_sizes_asked_for_and_all_pairs() -> None:
    found = parts(PAIRS)
    assert (len(found.train), len(found.validation), len(found.test)) == (75, 15, 10)
    assert sorted(found.train + found.validation + found.test) == sorted(PAIRS)


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


def test_keys_are_drawn_by_a_hash_that_every_process_shares() -> None:
    # The order of 0 to 9 by `printf '3\\n0' | b2sum -l 128` and so on starts with 3, 0, 7, 8.
    found = split(list("0123456789"), validation=2, test=2, seed=3, key=str)
    assert (found.validation, found.test) == (["0", "3"], ["7", "8"])


def test_with_two_keys_no_part_shares_one_of_either_with_another() -> None:
    # Chains: "s1 t1", "s1 t2", "s2 t2", ... in fives; the last of a chain shares no text with its first.
    pairs = [Pair(f"s{number // 2}", f"t{(number + 1) // 2}") for number in range(200) if number % 10 < 5]
    found = split(
        pairs,
        validation=10,
        test=15,
        seed=1,
        key=lambda pair: pair.source,
        also=lambda pair: pair.target,
    )
    held = [found.train, found.validation, found.test]
    assert [len(part) for part in held] == [75, 10, 15]
    assert sorted(chain(*held)) == sorted(pairs)
    chains = [{int(pair.source[1:]) // 5 for pair in part} for part in held]
    assert [len(part) for part in chains] == [15, 2, 3], "chains are whole"
    assert len(set.union(*chains)) == 20


def test_the_same_text_on_two_sides_joins_nothing() -> None:
    pairs = [Pair(f"{number}", f"{number + 1}") for number in range(10)]
    found = split(
        pairs,
        validation=2,
        test=2,
        seed=1,
        key=lambda pair: pair.source,
        also=lambda pair: pair.target,
    )
    assert (len(found.validation), len(found.test)) == (2, 2)


def test_two_keys_do_not_hang_on_the_order_and_large_groups_come_no_earlier() -> None:
    # A hundred lonely pairs and a hundred groups of four sources with one target.
    pairs = [Pair(f"lonely {number}", f"{number}") for number in range(100)]
    pairs += [Pair(f"{way} {number}", f"group {number}") for number in range(100) for way in "abcd"]

    def tested(pairs: list[Pair], seed: int) -> list[Pair]:
        return split(
            pairs, validation=0, test=100, seed=seed, key=by_source, also=lambda pair: pair.target
        ).test

    assert sorted(tested(pairs[::-1], 1)) == sorted(tested(pairs, 1))
    lonely = sum(pair.source.startswith("lonely") for seed in range(10) for pair in tested(pairs, seed))
    assert 150 <= lonely <= 250, "a fifth of all pairs are lonely"


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
    found = split(["b", "a"], validation=0, test=0, seed=0, key=str)
    assert (found.train, found.validation, found.test) == (["b", "a"], [], [])


@pytest.mark.parametrize(
    ("sizes", "asked", "possible"), [([2] * 10, 3, 2), ([3] * 10, 8, 6), ([1, 4, 4, 4], 3, 1)]
)
def test_as_many_as_are_said_to_be_possible_can_be_set_apart(
    sizes: list[int], asked: int, possible: int
) -> None:
    examples = [f"{name}" for name, size in enumerate(sizes) for _ in range(size)]
    with pytest.raises(TooFewError) as caught:
        split(examples, validation=asked, test=0, seed=0, key=str)
    assert (caught.value.part, caught.value.possible) == ("validation", possible)
    assert len(split(examples, validation=possible, test=0, seed=0, key=str).validation) == possible
