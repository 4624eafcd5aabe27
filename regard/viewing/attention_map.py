"""How a text prediction is drawn."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from regard.core.kinds import CONTEXT, CROSS, DECODER, ENCODER, plain_kind
from regard.core.prediction import AttentionRecord, Prediction
from regard.viewing.fragment import fragment
from regard.viewing.heatmap import heatmap, placard
from regard.viewing.labels import NO_LOOKS, plain
from regard.viewing.page import page
from regard.viewing.terminal import terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class TextView:
    """Draws looks as a heat map: of one layer and head, counted from 0, or their mean.

    Looks at the source, unless `kind` is another of the record's.
    """

    layer: int | None = None
    head: int | None = None
    hide_special: bool = False
    sides: tuple[str, str] = ("source", "target")  # names of the axes
    kind: str = CROSS

    def figure(self, prediction: Prediction) -> "Figure":
        record = prediction.attention.seen(self.kind)
        if not record.has(CROSS):
            return placard(
                NO_LOOKS,
                [f"source  {_short(prediction.source)}", f"answer  {_short(prediction.text)}"],
            )
        return heatmap(
            record.cross(self.layer, self.head),
            record.source_pieces,
            record.target_pieces,
            hide_special=self.hide_special,
            caption=self.caption(record),
            sides=self._sides(),
        )

    def html(self, prediction: Prediction) -> str:
        prediction = self._seen(prediction)
        record = prediction.attention
        if not record.has(CROSS):
            return fragment(prediction, None)
        weights = record.cross(self.layer, self.head)
        return fragment(prediction, weights, hide_special=self.hide_special, caption=self.caption(record))

    def page(self, prediction: Prediction) -> str:
        return page(prediction, hide_special=self.hide_special, kind=self.kind)

    def letters(self, prediction: Prediction) -> str:
        prediction = self._seen(prediction)
        return terminal(prediction, layer=self.layer, head=self.head, hide_special=self.hide_special)

    def showing(
        self, *, layer: int | None, head: int | None, hide_special: bool, kind: str = CROSS
    ) -> "TextView":
        return replace(self, layer=layer, head=head, hide_special=hide_special, kind=kind)

    def caption(self, record: AttentionRecord) -> str | None:
        """Which of several layers and heads the picture shows; nothing when there is but one."""
        if "cross" not in record.weights:
            return f"mean of {sum(plain_kind(kind) == 'cross' for kind in record.kinds)} models"
        layers, heads = record.weights["cross"].shape[:2]
        told, averaged = [], []
        for name, chosen, count in (("layer", self.layer, layers), ("head", self.head, heads)):
            if count > 1 and chosen is None:
                averaged.append(f"{count} {name}s")
            elif count > 1:
                told.append(f"{name} {chosen}")
        if averaged:
            told.append("mean of " + " × ".join(averaged))
        return ", ".join(told) or None

    def _seen(self, prediction: Prediction) -> Prediction:
        return replace(prediction, attention=prediction.attention.seen(self.kind))

    def _sides(self) -> tuple[str, str]:
        source, target = self.sides
        return {
            CROSS: self.sides,
            CONTEXT: ("context", target),
            ENCODER: (source, source),
            DECODER: (f"{target}, so far", target),
        }[self.kind]


def _short(text: str) -> str:
    return plain(text) if len(text) <= 80 else plain(text[:80]) + "…"
