"""Parts for training, validation and test that have nothing in common."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError

Example = TypeVar("Example")


@dataclass(frozen=True)
class Splits(Generic[Example]):
    """`train` is read again each time, so it need not fit into memory."""

    train: Callable[[], Iterator[Example]] = field(repr=False)
    validation: list[Example]
    test: list[Example]


class TooFewError(UserError):
    """So many examples can't be set apart for `part`, but `possible` can."""

    def __init__(self, part: str, size: int, possible: int, keys: int):
        super().__init__(
            f"{part}: {size:,} examples were asked for but only {possible:,} can be set apart without "
            f"sharing one of the {keys:,} different keys. Ask for {possible:,} or fewer, "
            "or split by something else."
        )
        self.part, self.possible = part, possible


def split(
    examples: Callable[[], Iterable[Example]],
    *,
    validation: int,
    test: int,
    seed: int,
    key: Callable[[Example], str],
) -> Splits[Example]:
    """Draw a validation and a test part of exactly these sizes; the rest is for training.

    Examples with the same key stay together, so that no part knows another's. Which part a key
    goes to hangs on the seed and the keys alone, not on their order. A key with more examples than
    a part still has room for is left for training. Of all examples only eight bytes each are held.
    """
    assert min(validation, test) >= 0, (validation, test)

    def drawn(example: Example) -> int:
        return _draw(key(example), seed)

    draws = np.fromiter((drawn(example) for example in examples()), dtype=np.uint64)
    keys, sizes = np.unique(draws, return_counts=True)  # in the order of their draws
    in_validation = _fill("validation", validation, keys, sizes)
    free = ~np.isin(keys, np.fromiter(in_validation, dtype=np.uint64))
    in_test = _fill("test", test, keys[free], sizes[free], all_keys=len(keys))
    if len(keys) and len(in_validation) + len(in_test) == len(keys):
        raise UserError(
            f"validation ({validation:,}) and test ({test:,}) take all {len(draws):,} examples "
            "and leave none for training. Ask for less."
        )
    held = in_validation | in_test
    parts = Splits[Example](
        lambda: (example for example in examples() if not held or drawn(example) not in held), [], []
    )
    for example in examples() if held else ():
        draw = drawn(example)
        if draw in in_validation:
            parts.validation.append(example)
        elif draw in in_test:
            parts.test.append(example)
    return parts


def _fill(
    part: str,
    size: int,
    keys: NDArray[np.uint64],
    sizes: NDArray[np.int64],
    *,
    all_keys: int | None = None,
) -> set[int]:
    """Take keys in their order until the part is full; those too big for what is left of it are passed over."""
    room = size
    taken: set[int] = set()
    for name, count in zip(keys, sizes, strict=True):
        if not room:
            break
        if count <= room:
            taken.add(int(name))
            room -= int(count)
    if room:
        raise TooFewError(part, size, size - room, len(keys) if all_keys is None else all_keys)
    return taken


def _draw(name: str, seed: int) -> int:
    # Python's own hash of a string differs from process to process. Two names with the same draw share a part.
    digest = blake2b(f"{seed}\n{name}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest[:8], "big")
