"""Parts for training, validation and test that have nothing in common."""

from array import array
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError

TRAIN, VALIDATION, TEST = range(3)


class TooFewError(UserError):
    """So many examples can't be set apart for `part`, but `possible` can."""

    def __init__(self, part: str, size: int, possible: int, keys: int):
        super().__init__(
            f"{part}: {size:,} examples were asked for but only {possible:,} can be set apart without "
            f"sharing one of the {keys:,} different keys. Ask for fewer with data.{part}_size, so that enough are left "
            "for training."
        )
        self.part, self.possible = part, possible


def split(
    draws: NDArray[np.uint64],
    *,
    validation: int,
    test: int,
    also: NDArray[np.uint64] | None = None,
) -> NDArray[np.uint8]:
    """The part that each example goes to, where validation and test have exactly these sizes.

    Of each example the draw of its key is given (see `draw`). Those with the same key stay together, so that no
    part knows another's; with a second key, `also`, those that either of the two joins, over any number of others.
    Which part they go to hangs on the draws alone, not on their order. Those that are more than a part still has
    room for are left for training.
    """
    assert min(validation, test) >= 0, (validation, test)
    keys, sizes = np.unique(draws, return_counts=True)  # in the order of their draws
    groups, names, totals = keys, keys, sizes  # a group's name for each key; names, and how many have each
    if also is not None:
        groups = _joined(keys, draws, also)
        names, places = np.unique(groups, return_inverse=True)
        totals = np.bincount(places, weights=sizes).astype(np.int64)
    validation_groups = _fill("validation", validation, names, totals)
    free = ~np.isin(names, validation_groups)
    test_groups = _fill("test", test, names[free], totals[free], all_keys=len(names))
    if len(names) and len(validation_groups) + len(test_groups) == len(names):
        raise UserError(
            f"validation ({validation:,}) and test ({test:,}) take all {len(draws):,} examples "
            "and leave none for training. Ask for less."
        )
    parts = np.full(len(draws), TRAIN, dtype=np.uint8)
    for part, held in ((VALIDATION, validation_groups), (TEST, test_groups)):
        parts[np.isin(draws, keys[np.isin(groups, held)])] = part
    return parts


def _joined(
    keys: NDArray[np.uint64], draws: NDArray[np.uint64], others: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """For each of the sorted keys the name of its group: keys that stand beside the same other key are in one.

    A name is the sum of its keys, so that large groups are drawn no earlier than small ones.
    """
    parents = array("q", range(len(keys)))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = place = parents[parents[place]]
        return place

    order = np.argsort(others)
    same = others[order][1:] == others[order][:-1]
    for (left, right), joins in zip(pairwise(np.searchsorted(keys, draws)[order]), same, strict=True):
        if joins:
            parents[root(left)] = root(right)
    roots = np.fromiter(map(root, range(len(keys))), dtype=np.int64, count=len(keys))
    sums = np.zeros_like(keys)
    np.add.at(sums, roots, keys)  # goes round at 2**64, as a draw may
    names: NDArray[np.uint64] = sums[roots]
    return names


def _fill(
    part: str,
    size: int,
    keys: NDArray[np.uint64],
    sizes: NDArray[np.int64],
    *,
    all_keys: int | None = None,
) -> NDArray[np.uint64]:
    """Take keys in their order until the part is full; those too big for what is left of it are passed over."""
    room = size
    taken: list[np.uint64] = []
    for name, count in zip(keys, sizes, strict=True):
        if not room:
            break
        if count <= room:
            taken.append(name)
            room -= int(count)
    if room:
        raise TooFewError(part, size, size - room, len(keys) if all_keys is None else all_keys)
    return np.array(taken, dtype=np.uint64)


def draw(name: str, seed: int) -> int:
    """A number by chance, the same for the same name and seed."""
    # Python's own hash of a string differs from process to process. Two names with the same draw share a part.
    digest = blake2b(f"{seed}\n{name}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest[:8], "big")
