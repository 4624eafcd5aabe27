"""What a step costs in theory, and how figures are put together."""

from collections.abc import Mapping, Sequence
from statistics import median

from contract import EMBEDDING, VOCABULARY, Batch, Shape

BACKWARD = 2  # times the products of the forward pass, for the gradients by inputs and by weights


def products(shape: Shape, batch: Batch) -> float:
    """Floating-point operations of the matrix products in a training step, padding not counted."""
    source = [len(row) + 1 for row in batch.sources]
    target = [len(row) + 1 for row in batch.targets]
    forward = _recurrent(shape, source, target) if shape.recurrent else _transformer(shape, source, target)
    return (1 + BACKWARD) * 2 * forward  # a multiplication and an addition each


def _transformer(shape: Shape, source: Sequence[int], target: Sequence[int]) -> float:
    width, inner = shape.width, shape.inner
    read, written = sum(source), sum(target)
    own, thought = 4 * width * width, 2 * width * inner
    matrices = read * (own + thought) + written * (own + thought)
    across = written * 2 * width * width + read * 2 * width * width  # queries and outputs, keys and values
    looks = sum(s * s + t * t + s * t for s, t in zip(source, target, strict=True)) * 2 * width
    return shape.layers * (matrices + across + looks) + written * width * VOCABULARY


def _recurrent(shape: Shape, source: Sequence[int], target: Sequence[int]) -> float:
    width, half = shape.width, shape.width // 2
    read, written = sum(source), sum(target)
    total = 0.0
    for layer in range(shape.layers):
        below = EMBEDDING if layer == 0 else width
        total += read * 2 * 4 * half * (below + half)
        total += written * 4 * width * (below + width)
    if shape.feeding:
        total += written * 4 * width * width
    looks = sum(s * t for s, t in zip(source, target, strict=True))
    if shape.score == "additive":
        total += read * width * width + written * width * width + looks * 2 * width
    else:
        total += read * width * width + looks * 2 * width
    return total + written * 2 * width * width + written * width * VOCABULARY


def rates(rounds: Sequence[Mapping[str, float]], of: str) -> list[float]:
    """Of each round, how many of something in a second."""
    return [one[of] / one["seconds"] for one in rounds]


def middle(values: Sequence[float]) -> float:
    return median(values)


def paired(mine: Sequence[float], other: Sequence[float]) -> float:
    """How many times as fast, round by round: what slowed the machine slowed both."""
    return median(a / b for a, b in zip(mine, other, strict=True))


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the straight line that fits best."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown: the first column is text, the others are figures."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
