"""The beam in letters, for a terminal."""

from collections.abc import Iterator

from regard.core.prediction import Prediction
from regard.viewing.labels import label
from regard.viewing.tree import BeamTree, beam_tree

MOST = 60  # lines of hypotheses, unless the answer itself is longer

_MARKS = {"answer": "●", "kept": "○", "pruned": "×", "finished": "✓"}


def tree_terminal(prediction: Prediction) -> str | None:
    """A line for each hypothesis, with the log-probability of all its pieces; None where no beam was recorded.

    The answer runs down the left. What else was tried branches off to the right, above the piece that was
    taken instead.
    """
    tree = beam_tree(prediction, MOST)
    if tree is None:
        return None
    lines = [f"The beam: {tree.summary}", "", "step     score  ┬", *_onwards(tree, None, "")]
    if tree.left_out:
        lines.append(f"… {tree.left_out:,} of {len(tree.nodes):,} hypotheses left out here.")
    lines += ["", "   ".join(f"{mark} {name}" for name, mark in _MARKS.items())]
    return "\n".join(lines)


def _onwards(tree: BeamTree, number: int | None, margin: str) -> Iterator[str]:
    """What goes on from a hypothesis: its branches, then its first child in its own column, and so on."""
    while children := tree.children.get(number):
        number, *branches = children
        for branch in branches:
            yield _line(tree, branch, margin + "├─")
            yield from _onwards(tree, branch, margin + "│ ")
        yield _line(tree, number, margin)


def _line(tree: BeamTree, number: int, margin: str) -> str:
    node = tree.nodes[number]
    mark = _MARKS["answer" if number in tree.answer and node.fate == "kept" else node.fate]
    line = f"{node.step:4} {node.score:9.3f}  {margin}{mark} {label(node.piece)}"
    if number in tree.answer[-1:]:
        return f"{line}  the answer, rank {node.rank:.3f}"
    return f"{line}  rank {node.rank:.3f}" if node.fate == "finished" else line
