"""Parts for training, validation and test that have nothing in common."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, TypeVar

from regard.core.errors import UserError

Example = TypeVar("Example")


@dataclass(frozen=True)
class Splits(Generic[Example]):
    train: list[Example]
    validation: list[Example]
    test: list[Example]

    def __str__(self) -> str:
        train, validation, test = len(self.train), len(self.validation), len(self.test)
        return f"{train:,} for training, {validation:,} for validation, {test:,} for test"


def split(
    examples: Iterable[Example], *, validation: int, test: int, seed: int, key: Callable[[Example], str]
) -> Splits[Example]:
    """Draw a validation and a test part of exactly these sizes; the rest is for training.

    Examples with the same key stay together, so that no part knows another's. Which part a key
    goes to hangs on the seed and the keys alone, not on their order. A key with more examples than
    a part still has room for is left for training.
    """
    assert min(validation, test) >= 0, (validation, test)
    examples = list(examples)
    keys = [key(example) for example in examples]
    sizes = Counter(keys)
    drawn = iter(sorted(sizes, key=lambda name: _draw(name, seed)))
    aside: list[str] = []
    in_validation = _fill("validation", validation, drawn, sizes, aside)
    in_test = _fill("test", test, iter([*aside, *drawn]), sizes, [])
    if examples and len(in_validation) + len(in_test) == len(sizes):
        raise UserError(
            f"validation ({validation:,}) and test ({test:,}) take all {len(examples):,} examples "
            "and leave none for training. Ask for less."
        )
    parts = Splits[Example]([], [], [])
    for example, name in zip(examples, keys, strict=True):
        part = parts.validation if name in in_validation else parts.test if name in in_test else parts.train
        part.append(example)
    return parts


def _fill(part: str, size: int, drawn: Iterator[str], sizes: Counter[str], aside: list[str]) -> set[str]:
    """Take keys until the part is full; those too big for it are put aside."""
    room = size
    taken: set[str] = set()
    while room:
        name = next(drawn, None)
        if name is None:
            raise UserError(
                f"{part}: {size:,} examples were asked for but only {size - room:,} can be set apart without "
                f"sharing one of the {len(sizes):,} different keys. Ask for {size - room:,} or fewer, "
                "or split by something else."
            )
        if sizes[name] <= room:
            taken.add(name)
            room -= sizes[name]
        else:
            aside.append(name)
    return taken


def _draw(name: str, seed: int) -> bytes:
    # Python's own hash of a string differs from process to process.
    return blake2b(f"{seed}\n{name}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
