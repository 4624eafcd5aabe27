"""How a caption is drawn: on the picture."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.core.errors import UserError
from regard.core.kinds import CROSS, ENCODER
from regard.core.prediction import AttentionRecord, Prediction, View
from regard.viewing.attention_map import TextView
from regard.viewing.fragment import BOX, answered
from regard.viewing.heatmap import placard
from regard.viewing.labels import NO_LOOKS, plain
from regard.viewing.picture_letters import letters
from regard.viewing.picture_looks import Looks, Picture, called, looks_of
from regard.viewing.picture_page import picture_page
from regard.viewing.picture_strip import strip
from regard.viewing.tree_terminal import tree_terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PictureView:
    """Draws the look of each word on the picture: of one layer and head, counted from 0, or their mean.

    `read` gives the picture of a source as the model saw it, 3 H W, or a `UserError`. `grid` are the rows and
    columns of cells that the model looked at, row by row.
    """

    read: Callable[[str], NDArray[np.uint8]]
    grid: tuple[int, int]
    layer: int | None = None
    head: int | None = None
    hide_special: bool = False

    def figure(self, prediction: Prediction) -> "Figure":
        looks = self._looks(prediction.attention)
        if looks is None:
            told = [f"picture  {called(prediction.source)}", f"answer  {plain(prediction.text[:80])}"]
            return placard(NO_LOOKS, told)
        caption = TextView(self.layer, self.head).caption(prediction.attention)
        title = plain(prediction.text) if len(prediction.text) <= 90 else plain(prediction.text[:89]) + "…"
        return strip(looks, self._picture(prediction), self.grid, title=title, caption=caption)

    def html(self, prediction: Prediction) -> str:
        from regard.viewing import canvas

        drawing = f"<div>{NO_LOOKS}</div>"
        if self._looks(prediction.attention) is not None:
            content = base64.b64encode(canvas.png(self.figure(prediction))).decode()
            told = escape("The picture, and where each word of the answer looked in it", quote=True)
            drawing = (
                f'<img src="data:image/png;base64,{content}" alt="{told}" style="max-width:100%;height:auto">'
            )
        return f'<div style="{BOX}">{answered(prediction, called(prediction.source))}{drawing}</div>'

    def page(self, prediction: Prediction) -> str:
        record = prediction.attention
        weights = record.weights.get("cross")
        if weights is None and record.has("cross"):  # of an ensemble
            weights = record.cross()[None, None]
        looks = None if weights is None else looks_of(record, weights)
        picture = self._picture(prediction)
        return picture_page(prediction, looks, picture, self.grid, hide_special=self.hide_special)

    def letters(self, prediction: Prediction) -> str:
        looks = self._looks(prediction.attention)
        tree = tree_terminal(prediction)
        parts = [
            f"{called(prediction.source)}\n{plain(prediction.text)}   (log-probability {prediction.score:.3f})",
            NO_LOOKS if looks is None else letters(looks, self.grid),
            *([tree] if tree else []),
        ]
        return "\n\n".join(parts)

    def showing(self, *, layer: int | None, head: int | None, hide_special: bool, kind: str = CROSS) -> View:
        """Looks that are not at the picture are a heat map of words."""
        if kind == ENCODER:
            raise UserError("What the cells of a picture make of each other cannot be drawn on it.")
        if kind != CROSS:
            return TextView(layer, head, hide_special, kind=kind)
        return replace(self, layer=layer, head=head, hide_special=hide_special)

    def _looks(self, record: AttentionRecord) -> Looks | None:
        if not record.has("cross"):
            return None
        return looks_of(record, record.cross(self.layer, self.head), hide_special=self.hide_special)

    def _picture(self, prediction: Prediction) -> Picture:
        try:
            return self.read(prediction.source).transpose(1, 2, 0)  # H W 3
        except UserError as error:
            return f"The picture cannot be seen any more. {error}"
