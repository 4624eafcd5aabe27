"""How a prediction of points is drawn."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from regard.core.errors import UserError
from regard.core.kinds import CROSS
from regard.core.prediction import AttentionRecord, Prediction, View
from regard.viewing.attention_map import TextView
from regard.viewing.heatmap import placard
from regard.viewing.path_data import Paths
from regard.viewing.path_figure import path_figure
from regard.viewing.path_fragment import nothing_to_draw, path_fragment
from regard.viewing.path_page import path_page
from regard.viewing.path_terminal import path_terminal
from regard.viewing.standalone import assets, filled, spoken

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PathView:
    """Draws paths, and what was looked at: by one step, counted from 0, or by all of them in the mean.

    Points of two values are a path in the plane; of others, each value is drawn over time.
    """

    layer: int | None = None
    head: int | None = None
    step: int | None = None

    def figure(self, prediction: Prediction) -> "Figure":
        try:
            paths = self._paths(prediction)
        except _NothingError as nothing:
            return placard("No points to draw.", [str(nothing)])
        return path_figure(paths, step=self.step, caption=self._caption(prediction.attention))

    def html(self, prediction: Prediction) -> str:
        try:
            paths = self._paths(prediction)
        except _NothingError as nothing:
            return nothing_to_draw(f"No points to draw. {nothing}")
        return path_fragment(
            prediction, paths, paths.marks_of(self.step), self._caption(prediction.attention)
        )

    def page(self, prediction: Prediction) -> str:
        try:
            paths = Paths.of(prediction)
        except UserError as error:
            values = {"title": "No points · Regard", "why": spoken(prediction.problem or str(error))}
            return filled("nothing.html", values, style=assets("base.css"))
        return path_page(prediction, paths, paths.marks_of(None))

    def letters(self, prediction: Prediction) -> str:
        try:
            return path_terminal(prediction, self._paths(prediction))
        except _NothingError as nothing:
            return f"No points to draw. {nothing}"

    def showing(self, *, layer: int | None, head: int | None, hide_special: bool, kind: str = CROSS) -> View:
        """Points have no marks that could be hidden. Looks that are not at the source are a heat map of steps."""
        if kind != CROSS:
            return TextView(layer, head, kind=kind)
        return replace(self, layer=layer, head=head)

    def _paths(self, prediction: Prediction) -> Paths:
        for name in ("layer", "head"):  # a mistake here is the person's, whatever the source is
            if getattr(self, name) is not None and prediction.attention.has("cross"):
                prediction.attention.cross(self.layer, self.head)
        try:
            paths = Paths.of(prediction, self.layer, self.head)
        except UserError as error:
            raise _NothingError(prediction.problem or str(error)) from error
        if self.step is not None and not 0 <= self.step < len(paths.predicted):
            raise UserError(
                f"There is no step {self.step}: the answer has {len(paths.predicted)}, counted from 0."
            )
        return paths

    def _caption(self, record: AttentionRecord) -> str | None:
        """Which of several layers and heads the picture shows."""
        return TextView(self.layer, self.head).caption(record) if record.has("cross") else None


class _NothingError(Exception):
    """Why there are no points."""
