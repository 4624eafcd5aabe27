"""Small predictions made by hand."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from regard.core.prediction import AttentionRecord, BeamNode, Prediction
from regard.viewing import TextView

HOSTILE = ("</script><script>alert(1)</script>", "<!--", "\u2028", "$x_1$", "\x00", "\ud800", "&lt;", " ")

Make = Callable[..., Prediction]


def _predict(
    source: Sequence[str], target: Sequence[str], weights: object = "identity", *, text: str | None = None
) -> Prediction:
    if isinstance(weights, str):
        weights = np.eye(len(target), len(source))[None, None]
    kinds = {} if weights is None else {"cross": np.asarray(weights, dtype=np.float32)}
    finished = target[-1:] == ["</s>"]
    return Prediction(
        source="".join(source),
        text="".join(target) if text is None else text,
        pieces=tuple(target[:-1] if finished else target),
        score=-0.25,
        finished=finished,
        attention=AttentionRecord(tuple(source), tuple(target), kinds),
        view=TextView(),
    )


@pytest.fixture
def predict() -> Make:
    return _predict


@pytest.fixture
def two_by_three() -> Prediction:
    """`x` looks mostly at `c`, `y` mostly at `a`."""
    return _predict(["a", " ", "c"], ["x", "y"], [[[[0.1, 0.2, 0.7], [0.9, 0.06, 0.04]]]])


@pytest.fixture
def many_heads() -> Prediction:
    """Two layers of two heads: in layer 1, head 0, everything looks at `b`; elsewhere at `a`."""
    weights = np.zeros((2, 2, 2, 2))
    weights[..., 0] = 1
    weights[1, 0] = [[0, 1], [0, 1]]
    return _predict(["a", "b"], ["x", "</s>"], weights, text="x")


@pytest.fixture
def hostile() -> Prediction:
    return _predict(HOSTILE, [*HOSTILE, "</s>"], np.full((1, 1, len(HOSTILE) + 1, len(HOSTILE)), 1 / 8))


@pytest.fixture
def small_beam() -> Prediction:
    """The answer `bx`, which begins with the second best piece; `a` finished too, `ay` was not allowed to."""
    nodes = (
        BeamNode(None, "a", -0.125, -0.125, "kept", 1),
        BeamNode(None, "b", -0.5, -0.5, "kept", 1),
        BeamNode(None, "c", -3.0, -3.0, "pruned", 1),
        BeamNode(1, "x", -0.625, -0.5, "kept", 2),
        BeamNode(0, "y", -1.0, -0.75, "kept", 2),
        BeamNode(0, "</s>", -1.5, -1.25, "finished", 2),
        BeamNode(3, "</s>", -0.75, -0.375, "finished", 3),
        BeamNode(4, "</s>", -2.0, -1.0, "pruned", 3),
    )
    return replace(_predict(["s"], ["b", "x", "</s>"], text="bx"), score=-0.75, beam=nodes)


def _random_beam(seed: int, *, width: int, steps: int) -> Prediction:
    """A beam over pieces drawn by chance. The best of what finished is the answer, else the best of the last step."""
    random = np.random.default_rng(seed)
    nodes: list[BeamNode] = []
    live: list[int | None] = [None]
    for step in range(1, steps + 1):
        candidates = [
            (0.0 if parent is None else nodes[parent].score) - loss
            for parent in live
            for loss in random.exponential(size=4)
        ]
        going_on: list[int | None] = []
        for place, at in enumerate(np.argsort(candidates)[::-1][: 2 * width]):
            end = step > 1 and random.random() < 0.1
            fate = "pruned" if place >= width else "finished" if end else "kept"
            piece = "</s>" if end else str(random.choice(list("abcde")))
            score = candidates[at]
            if fate == "kept":
                going_on.append(len(nodes))
            nodes.append(BeamNode(live[at // 4], piece, score, score / step, fate, step))
        live = going_on
        if not live:
            break
    ends = [node for node in nodes if node.fate == "finished"] or [
        node for node in nodes if node.step == step
    ]
    best = max(ends, key=lambda node: node.rank)
    pieces = [best.piece]
    at = best.parent
    while at is not None:
        pieces.insert(0, nodes[at].piece)
        at = nodes[at].parent
    return replace(_predict(["s"], pieces, None), score=best.score, beam=tuple(nodes))


@pytest.fixture
def random_beam() -> Make:
    return _random_beam
