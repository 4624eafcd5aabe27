"""How a training went: loss and validation scores over the steps, one small panel each."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from regard.viewing.lines import COLOURS, Line, Panel, Points, stack

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TRAINING, _VALIDATION = COLOURS[:2]


def curves(
    training: Points, validation: Mapping[str, Points] | None = None, *, title: str | None = None
) -> "Figure":
    """The training loss `(steps, values)` and each validation score by name, sharing the steps.

    A validation score named "loss" shares the panel of the training loss.
    """
    scores = dict(validation or {})
    for steps, values in (training, *scores.values()):
        if len(steps) != len(values):
            raise ValueError(f"{len(steps)} steps do not go with {len(values)} values")
    losses = [Line("training", training, _TRAINING)]
    if "loss" in scores:
        losses.append(Line("validation", scores.pop("loss"), _VALIDATION))
    panels = {"loss": losses} | {name: [Line("", points, _VALIDATION)] for name, points in scores.items()}
    return stack([Panel(name, lines, "step") for name, lines in panels.items()], title=title, shared=True)
