from pathlib import Path

import numpy as np
import pytest

from regard.core.pieces import END
from regard.data import BatchPlan, Limits, Mixture, Pair, TokenStore, open_store, shares
from regard.text import TOKENIZERS, Tags

TOKENIZER = TOKENIZERS["characters"](["abc "], vocabulary=20)
TAGS = Tags(("de", "fr"), first=len(TOKENIZER))
LIMITS = Limits(source=9, target=9)


def store(folder: Path, letter: str, size: int, tag: str) -> TokenStore:
    pairs = [Pair(letter * (n % 5 + 1), letter, (tag,)) for n in range(size)]
    return open_store(folder, lambda: pairs, TOKENIZER, TOKENIZER, LIMITS, TAGS)


@pytest.fixture
def mixture(tmp_path: Path) -> Mixture:
    stores = [store(tmp_path, "a", 30, "de"), store(tmp_path, "b", 8, "fr")]
    return Mixture(stores, [0.5, 0.5], seed=3)


def test_shares_go_by_size_temperature_and_weight() -> None:
    assert shares([300, 100], [1, 1], 1) == pytest.approx([0.75, 0.25])
    assert shares([300, 100], [1, 3], 1) == pytest.approx([0.5, 0.5])
    assert shares([256, 16], [1, 1], 4) == pytest.approx([4 / 6, 2 / 6])
    assert shares([10**6, 1], [1, 1], 1000) == pytest.approx([0.5, 0.5], abs=0.01)


def test_an_epoch_has_of_each_store_what_its_share_says(mixture: Mixture) -> None:
    drawn = mixture.drawn(0)
    assert len(drawn) == len(mixture) == 38
    counts = np.bincount(drawn, minlength=38)
    assert counts[:30].sum() == counts[30:].sum() == 19
    assert set(counts[:30]) == {0, 1}  # some of the larger
    assert set(counts[30:]) == {2, 3}  # all of the smaller, twice, and some a third time
    assert (np.sort(mixture.drawn(0)) == np.sort(drawn)).all()
    assert (np.sort(mixture.drawn(1)) != np.sort(drawn)).any()


def test_batches_of_an_epoch_hold_what_was_drawn(mixture: Mixture) -> None:
    plan = BatchPlan(mixture.source_lengths, mixture.target_lengths, budget=40, seed=1, drawn=mixture.drawn)
    held = np.sort(np.concatenate(list(plan.epoch(2))))
    assert (held == np.sort(mixture.drawn(2))).all()


def test_rows_come_from_the_right_store_with_their_tags(mixture: Mixture) -> None:
    batch = mixture.batch([0, 29, 30, 37])
    (a,), (b,) = TOKENIZER.encode("a"), TOKENIZER.encode("b")
    for row, (tag, letter, times) in enumerate([("de", a, 1), ("de", a, 5), ("fr", b, 1), ("fr", b, 3)]):
        length = int(batch.source.lengths[row])
        assert batch.source.ids[row, :length].tolist() == [*TAGS.ids([tag]), *[letter] * times, END]
        assert batch.target.ids[row].tolist() == [letter, END]


def test_tags_and_their_names_are_part_of_what_a_store_is_known_by(tmp_path: Path) -> None:
    pair, other = Pair("a", "b", ("de",)), Pair("a", "b", ("fr",))
    names = {
        open_store(tmp_path, lambda p=pairs: p, TOKENIZER, TOKENIZER, LIMITS, TAGS).fingerprint
        for pairs in ([pair], [other], [Pair("a", "b")])
    }
    assert len(names) == 3
