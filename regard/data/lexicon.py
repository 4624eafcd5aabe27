"""Which target pieces a source piece becomes, counted from pairs (Brown et al. 1993, model 1)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.prepared import Store

MOST_MEETINGS = 10_000_000  # of a source and a target piece; of more pairs an even sample is taken
_ROUNDS = 5
NOTHING = -1  # where a piece becomes fewer than asked for


def likely_targets(
    store: Store, sizes: tuple[int, int], *, most: int, without: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """V K: for each source piece the `most` target pieces that it becomes most probably, by falling.

    t(f | e) of model 1, by expectation and maximization. It does `without` those that have a place anyway: words
    that stand in every other sentence are likely beside any piece.
    """
    sources, targets, firsts = _meetings(store)
    width = sizes[1]
    links, which = np.unique(sources * width + targets, return_inverse=True)
    of_source = links // width
    counts = np.diff([*firsts, len(sources)])
    chances = np.ones(len(links))
    for _ in range(_ROUNDS):
        shares = chances[which]
        shares /= np.repeat(np.add.reduceat(shares, firsts), counts)
        expected = np.bincount(which, shares, minlength=len(links))
        chances = expected / np.bincount(of_source, expected)[of_source]
    if without is not None:
        kept = ~np.isin(links % width, without)
        links, chances, of_source = links[kept], chances[kept], of_source[kept]
    order = np.lexsort((-chances, of_source))
    ranks = np.arange(len(order)) - np.searchsorted(of_source, of_source[order])
    kept = order[ranks < most]
    likely = np.full((sizes[0] + 1, most), NOTHING, dtype=np.int32)
    likely[of_source[kept], ranks[ranks < most]] = links[kept] % width
    return likely[1:]


def common_targets(store: Store, size: int, *, most: int) -> NDArray[np.int32]:
    """The pieces that targets have most of, in an even sample of them."""
    counts = np.zeros(size, dtype=np.int64)
    for number in _even(len(store), MOST_MEETINGS // 100):
        counts += np.bincount(store.pair(int(number))[1], minlength=size)
    found = np.argsort(-counts, kind="stable")[:most]
    return np.sort(found[counts[found] > 0]).astype(np.int32)


def _meetings(store: Store) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Source and target pieces that stand in one pair, a target after the other, and where each of these begins.

    Source pieces are counted from 1; with every target meets 0, nothing.
    """
    products = (store.source_lengths + 1) * store.target_lengths
    share = min(1.0, MOST_MEETINGS / int(products.sum()))
    sources, targets, sizes = [], [], []
    for number in _even(len(store), max(1, int(share * len(store)))):
        source, target = store.pair(int(number))
        different = np.unique(np.append(source.astype(np.int64) + 1, 0))
        sources.append(np.tile(different, len(target)))
        targets.append(np.repeat(target.astype(np.int64), len(different)))
        sizes.append(np.full(len(target), len(different)))
    ends = np.cumsum(np.concatenate(sizes))
    return np.concatenate(sources), np.concatenate(targets), np.concatenate([[0], ends[:-1]])


def _even(count: int, wanted: int) -> Sequence[np.int64]:
    return list(np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64)))
