"""Where a model looks, against the links that people drew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regard.alignments import (
    Aligner,
    Argmax,
    Links,
    agreement,
    align,
    check_gold,
    intersection,
    read_gold,
    usual_layer,
)
from regard.core.errors import UserError
from regard.core.prediction import Prediction
from regard.data import Pair
from regard.forcing import force
from regard.metrics import Score
from regard.predictor import Predictor

WINDOW = 64  # pairs that are forced before their links are read off: every layer and head of each is held


@dataclass(frozen=True)
class AlignmentTest:
    """Compares where a model looks with the links that people drew between words."""

    gold: Path  # sure and possible links, a line for each pair: see `regard.alignments.pharaoh`
    by: Aligner = field(default_factory=Argmax)
    layer: int | None = None  # None: the last but one, where there are several
    head: int | None = None  # None: their mean
    backward: Predictor | None = None  # of the other direction: only links that both make count

    def __call__(self, predictor: Predictor, pairs: Sequence[Pair]) -> dict[str, Score]:
        gold = read_gold(self.gold)
        check_gold(gold, pairs, self.gold)
        found, layer = self._links(predictor, pairs)
        both = ""
        if self.backward is not None:
            turned, other = self._links(self.backward, [Pair(pair.target, pair.source) for pair in pairs])
            found = [intersection(one, back) for one, back in zip(found, turned, strict=True)]
            both = f"|and-backward:layer-{other}"
        head = "mean" if self.head is None else self.head
        return agreement(found, gold, made=f"by:{self.by}|layer:{layer}|head:{head}{both}|words:space")

    def _links(self, predictor: Predictor, pairs: Sequence[Pair]) -> tuple[list[Links], int | None]:
        """The links of each pair, and the layer that they are of.

        The model is told the targets, so that its looks are those of the words that people aligned.
        """
        found, layer = [], self.layer
        for one in self._forced(predictor, pairs):
            if not one.attention.kinds:
                raise UserError("This model has no attention, so there are no looks to read alignments off.")
            if layer is None and one.attention.source_pieces:
                layer = usual_layer(one.attention)
            found.append(align(one.attention, self.by, layer=layer, head=self.head))
        return found, layer

    def _forced(self, predictor: Predictor, pairs: Sequence[Pair]) -> Iterator[Prediction]:
        """Some at a time: all weights of a large test set take much memory."""
        for start in range(0, len(pairs), WINDOW):
            some = pairs[start : start + WINDOW]
            yield from force(predictor, [pair.source for pair in some], [pair.target for pair in some])
