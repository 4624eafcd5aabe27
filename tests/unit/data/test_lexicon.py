from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from regard.data import lexicon
from regard.data.lexicon import NOTHING, common_targets, likely_targets

SIZE = 12


@dataclass
class Pairs:
    """As much of a store as a lexicon asks for."""

    rows: list[tuple[list[int], list[int]]]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def source_lengths(self) -> NDArray[np.int64]:
        return np.array([len(source) for source, _ in self.rows])

    @property
    def target_lengths(self) -> NDArray[np.int64]:
        return np.array([len(target) for _, target in self.rows])

    def pair(self, number: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        source, target = self.rows[number]
        return np.array(source, dtype=np.uint32), np.array(target, dtype=np.uint32)


def translated(count: int, seed: int = 0) -> Pairs:
    """A piece n becomes n + 1, in another order; every target has an 11 besides."""
    chance = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        source = chance.choice(np.arange(4, 10), size=3, replace=False)
        rows.append((source.tolist(), [*chance.permutation(source + 1).tolist(), 11]))
    return Pairs(rows)


def test_pieces_that_explain_each_other_find_each_other() -> None:
    likely = likely_targets(translated(200), (SIZE, SIZE), most=2)
    assert likely.shape == (SIZE, 2)
    assert likely[4:10, 0].tolist() == [5, 6, 7, 8, 9, 10]


def test_one_round_is_what_brown_et_al_calculate_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs (4 5 | 6 7) and (4 | 7): 7 stands with nothing, 4 and 5, then with nothing and 4."""
    monkeypatch.setattr(lexicon, "_ROUNDS", 1)
    likely = likely_targets(Pairs([([4, 5], [6, 7]), ([4], [7])]), (SIZE, SIZE), most=3)
    # Of 4: 7 gets 1/3 + 1/2, 6 gets 1/3; of 5 both get 1/3, and the first of equals comes first.
    assert likely[4].tolist() == [7, 6, NOTHING]
    assert likely[5].tolist() == [6, 7, NOTHING]
    assert likely[9].tolist() == [NOTHING] * 3


def test_pieces_that_are_there_anyway_are_passed_over() -> None:
    likely = likely_targets(translated(200), (SIZE, SIZE), most=1, without=np.array([11, 6], dtype=np.int32))
    assert likely[[4, 6, 7], 0].tolist() == [5, 7, 8]
    assert likely[5, 0] not in (6, 11)


def test_the_first_and_the_last_piece_have_lists_of_their_own() -> None:
    likely = likely_targets(Pairs([([0], [4]), ([SIZE - 1], [SIZE - 1])]), (SIZE, SIZE), most=1)
    assert likely[[0, SIZE - 1], 0].tolist() == [4, SIZE - 1]
    assert (likely[1:-1] == NOTHING).all()


def test_of_more_pairs_than_are_counted_an_even_sample_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = translated(2_000)
    monkeypatch.setattr(lexicon, "MOST_MEETINGS", 16 * 100)
    looked: list[int] = []
    pair = pairs.pair
    monkeypatch.setattr(pairs, "pair", lambda number: looked.append(number) or pair(number))
    likely = likely_targets(pairs, (SIZE, SIZE), most=1)
    assert len(looked) == 100
    assert looked[0] == 0
    assert looked[-1] == 1_999
    assert likely[4:10, 0].tolist() == [5, 6, 7, 8, 9, 10]


def test_common_pieces_are_those_that_targets_have_most_of() -> None:
    pairs = Pairs([([4], [9, 9, 9, 5]), ([4], [5, 5, 7])])
    assert common_targets(pairs, SIZE, most=2).tolist() == [5, 9]
    assert common_targets(pairs, SIZE, most=100).tolist() == [5, 7, 9]
    assert common_targets(pairs, SIZE, most=0).tolist() == []
