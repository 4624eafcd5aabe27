"""The beam as a tree: everything a search considered, and what became of it."""

from dataclasses import dataclass, field

KEPT, PRUNED, FINISHED = "kept", "pruned", "finished"


@dataclass(frozen=True)
class Node:
    parent: int | None  # number of the node it goes on from; None at the first step
    piece: int
    score: float  # log-probability of all pieces up to here
    rank: float  # what it is worth as an answer of this length
    fate: str  # kept, pruned or finished
    step: int  # counted from 1


@dataclass
class Tree:
    """Of one source. A node comes after its parent."""

    nodes: list[Node] = field(default_factory=list)

    def add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1
