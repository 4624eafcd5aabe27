from itertools import pairwise

import numpy as np
import pytest

from regard.data import BatchPlan, in_order
from regard.data.batches import Integers


def natural(count: int) -> tuple[Integers, Integers]:
    """Lengths like those of sentences and their translations: log-normal, a fifth apart."""
    chance = np.random.default_rng(0)
    source = np.clip(chance.lognormal(3.0, 0.6, count).round(), 1, 400).astype(np.int64)
    target = np.clip((source * chance.lognormal(0.05, 0.2, count)).round(), 1, 400).astype(np.int64)
    return source, target


SOURCE, TARGET = natural(30_000)


def plan(seed: int = 1) -> BatchPlan:
    return BatchPlan(SOURCE, TARGET, budget=4_000, seed=seed)


def flat(plan: BatchPlan, epoch: int) -> list[list[int]]:
    return [batch.tolist() for batch in plan.epoch(epoch)]


def test_every_example_is_in_one_batch() -> None:
    assert sorted(np.concatenate(list(plan().epoch(0))).tolist()) == list(range(30_000))
    assert len(plan()) == 30_000


def test_no_batch_is_over_the_budget() -> None:
    assert all(
        len(batch) * max(SOURCE[batch].max(), TARGET[batch].max()) <= 4_000 for batch in plan().epoch(0)
    )


def test_little_is_padding_and_batches_are_full() -> None:
    batches = plan().epoch(0)
    real = SOURCE.sum() + TARGET.sum()
    padded = sum(len(batch) * (SOURCE[batch].max() + TARGET[batch].max()) for batch in batches)
    assert real / padded > 0.9
    fullness = [len(batch) * max(SOURCE[batch].max(), TARGET[batch].max()) / 4_000 for batch in batches]
    assert np.mean(fullness) > 0.95


def test_chance_alone_mixes_lengths_and_leaves_out_nobody() -> None:
    mixed = BatchPlan(SOURCE, TARGET, budget=4_000, seed=1, by_length=False)
    batches = flat(mixed, 0)
    assert sorted(number for batch in batches for number in batch) == list(range(30_000))
    assert all(len(batch) * max(SOURCE[batch].max(), TARGET[batch].max()) <= 4_000 for batch in batches)
    typical = SOURCE.std()
    assert np.mean([SOURCE[batch].std() for batch in batches]) > 0.8 * typical
    assert np.mean([SOURCE[batch].std() for batch in plan().epoch(0)]) < 0.2 * typical
    some = BatchPlan(
        SOURCE, TARGET, budget=4_000, seed=1, by_length=False, drawn=lambda epoch: np.arange(100)
    )
    assert sorted(number for batch in flat(some, 0) for number in batch) == list(range(100))


def test_an_epoch_hangs_on_seed_and_number_alone() -> None:
    straight, jumping = plan(), plan()
    jumping.epoch(5)
    assert flat(straight, 2) == flat(jumping, 2)
    assert flat(straight, 2) == flat(plan(), 2)
    assert jumping.batch(3, 7).tolist() == straight.epoch(3)[7].tolist()
    assert flat(plan(seed=2), 2) != flat(straight, 2)


def test_epochs_differ_in_order_and_in_who_sits_with_whom() -> None:
    first, second = flat(plan(), 0), flat(plan(), 1)
    assert [batch[0] for batch in first[:10]] != [batch[0] for batch in second[:10]]
    assert not {frozenset(batch) for batch in first} & {
        frozenset(batch) for batch in second if len(batch) > 20
    }
    where = {index: number for number, batch in enumerate(first) for index in batch}
    stayed = sum(where[a] == where[b] for batch in second for a, b in pairwise(batch))
    assert stayed / 30_000 < 0.6


def test_examples_of_one_length_sit_anywhere() -> None:
    lengths = np.full(1_000, 10)
    batches = BatchPlan(lengths, lengths, budget=100, seed=0).epoch(0)
    assert len(batches) == 100
    assert np.mean([batch.max() - batch.min() for batch in batches]) > 500


def test_long_and_short_batches_are_mixed() -> None:
    widths = [SOURCE[batch].max() for batch in plan().epoch(0)]
    assert abs(np.corrcoef(widths, np.arange(len(widths)))[0, 1]) < 0.2


@pytest.mark.parametrize("budget", [1, 50])
def test_an_example_longer_than_the_budget_is_alone(budget: int) -> None:
    source, target = np.array([10, 300, 10, 5]), np.array([10, 2, 10, 99])
    batches = flat(BatchPlan(source, target, budget=budget, seed=0), 0)
    assert [1] in batches
    assert [3] in batches
    assert sorted(index for batch in batches for index in batch) == [0, 1, 2, 3]


def test_nothing_gives_no_batches() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert len(BatchPlan(nothing, nothing, budget=10, seed=0).epoch(0)) == 0
    assert len(in_order(nothing, 10)) == 0


def test_in_order_by_hand() -> None:
    # Longest first: 5 | 3 2 | 1 1, for two rows of width three are six.
    batches = in_order(np.array([3, 1, 2, 5, 1]), 6)
    assert [batch.tolist() for batch in batches] == [[3], [0, 2], [1, 4]]


def test_batches_are_a_sequence() -> None:
    batches = in_order(np.array([3, 1, 2, 5, 1]), 6)
    assert [batch.tolist() for batch in batches[1:]] == [[0, 2], [1, 4]]
    assert batches[-1].tolist() == [1, 4]
    with pytest.raises(IndexError):
        batches[3]


def test_empty_examples_have_a_place_too() -> None:
    assert sorted(np.concatenate(list(in_order(np.array([0, 2, 0]), 2))).tolist()) == [0, 1, 2]


def test_those_who_share_the_work_have_as_many_batches_of_as_many_examples() -> None:
    lengths = np.random.default_rng(1).integers(5, 30, 128)
    assert len(in_order(lengths, 1_000)) == 3
    for many, sizes in ((2, [32, 32, 32, 32]), (3, [43, 42, 43])):
        batches = list(in_order(lengths, 2_000, among=many))
        assert [len(batch) for batch in batches] == sizes
        assert sorted(np.concatenate(batches).tolist()) == list(range(128))
        assert lengths[batches[0]].min() >= lengths[batches[-1]].max()
    assert [len(batch) for batch in in_order(lengths, 2_000, among=2, few=33)] == [64, 64]


def test_what_is_shared_out_stays_within_its_budget() -> None:
    lengths = np.array([400] + [10] * 60)
    batches = list(in_order(lengths, 500, among=2))
    assert all(len(batch) * lengths[batch].max() <= 500 for batch in batches)
    assert len(in_order(np.array([3]), 10, among=4)) == 1
    assert len(in_order(np.array([], dtype=np.int64), 10, among=4)) == 0
