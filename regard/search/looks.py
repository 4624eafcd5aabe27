"""The looks of one answer, out of those of all rows of every step."""

from collections.abc import Sequence

from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from regard.core.state import Looks


def along(path: Sequence[tuple[Looks, int]]) -> dict[str, Tensor]:
    """Each kind L H T S, of the looks of each step and the answer's row in them. A look at itself sees more at every
    step: the earlier ones are padded.
    """
    first, _ = path[0]
    return {
        kind: pad_sequence([looks[kind][row].movedim(-1, 0) for looks, row in path]).movedim((0, 1), (-1, -2))
        for kind in first
    }
