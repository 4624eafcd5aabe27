"""Quality by source length."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from regard.metrics.score import Metric, Score, check


@dataclass(frozen=True)
class Bucket:
    """The examples whose source is `shortest` to `longest` long, both included."""

    shortest: int
    longest: int
    count: int
    scores: tuple[Score, ...]

    def __str__(self) -> str:
        scores = ", ".join(f"{score.name} {score.value:.2f}" for score in self.scores)
        return f"{self.shortest}-{self.longest} ({self.count}): {scores}"


def by_bucket(
    lengths: Sequence[int],
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    metrics: Sequence[Metric],
    *,
    buckets: int = 5,
) -> list[Bucket]:
    """The metrics over the shortest sources, the next longer ones, and so on.

    The buckets hold about equally many examples and are never empty; sources of one length stay together,
    so there may be fewer buckets than asked for.
    """
    check(predictions, references)
    if len(lengths) != len(predictions):
        raise ValueError(f"{len(predictions)} predictions but lengths of {len(lengths)} sources")
    if buckets < 1:
        raise ValueError(f"buckets is {buckets}; at least one is needed")
    ordered = sorted(lengths)
    ends = [-(-len(ordered) * part // buckets) for part in range(1, buckets + 1)]  # rounded up: never 0
    edges = sorted({ordered[end - 1] for end in ends})
    members: list[list[int]] = [[] for _ in edges]
    for number, length in enumerate(lengths):
        members[bisect_left(edges, length)].append(number)
    return [
        Bucket(
            shortest=min(lengths[number] for number in numbers),
            longest=edge,
            count=len(numbers),
            scores=tuple(
                metric(
                    [predictions[number] for number in numbers], [references[number] for number in numbers]
                )
                for metric in metrics
            ),
        )
        for edge, numbers in zip(edges, members, strict=True)
    ]
