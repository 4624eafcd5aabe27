"""Who waits for the answer to a source while it is searched for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


def _always() -> bool:
    return True


@dataclass(frozen=True)
class Watch:
    """Asked and told at every step of a search, from the thread that searches."""

    wanted: Callable[[], bool] = _always  # False: nobody waits any more, so the source is given up
    hear: Callable[[Sequence[Any]], None] | None = None  # told the pieces or points of the best answer so far


NOBODY = Watch()


def everyone(watches: Sequence[Watch]) -> Watch:
    """Several who wait for the same answer: as long as one of them does, it is searched for."""
    hearing = [watch.hear for watch in watches if watch.hear]

    def tell(pieces: Sequence[Any]) -> None:
        for hear in hearing:
            hear(pieces)

    return Watch(lambda: any(watch.wanted() for watch in watches), tell if hearing else None)
