"""From one language to another. Beside no model, for the processes that only read pairs."""

from dataclasses import dataclass

from regard.data import Pair


@dataclass(frozen=True)
class Direction:
    source: str
    target: str
    turned: bool  # the files have it the other way round
    mark: str | None = None

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"

    def __call__(self, pair: Pair) -> Pair:
        tags = (self.target, self.mark) if self.mark else (self.target,)
        source, target = reversed(pair.sides) if self.turned else pair.sides
        return Pair(source, target, tags, str(self))
