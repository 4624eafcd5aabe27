"""The record of a training: metrics.jsonl, and TensorBoard where it is installed."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from regard.core.files import write_whole
from regard.training.events import Averaged, Event, Progressed, Validated, Validation


class Recorder:
    """Appends figures as they come.

    A training that goes on from step n starts its record after step n too: what a killed process
    had written beyond its last checkpoint is dropped, because it will be written again. So is what it
    wrote of an average, which is made after the last step, and of a validation at step n that is done `again`.
    """

    def __init__(self, metrics: Path, tensorboard: Path | None, *, step: int, again: bool = False):
        kept = [
            line
            for line in read_metrics(metrics)
            if line["step"] <= step
            and line["kind"] != "average"
            and not (again and (line["kind"], line["step"]) == ("validation", step))
        ]
        write_whole(metrics, "".join(json.dumps(line) + "\n" for line in kept))
        self._file = metrics.open("a", encoding="utf-8")
        self._board = _tensorboard(tensorboard, step) if tensorboard is not None else None

    def record(self, event: Event) -> None:
        match event:
            case Progressed():
                figures = {name: value for name, value in vars(event).items() if name != "step"}
                self._write("train", event.step, figures)
            case Validated():
                self._write("validation", event.step, _figures(event.validation))
            case Averaged():
                chosen = {"steps": list(event.steps), "is_best": event.is_best}
                self._write("average", event.step, _figures(event.validation), chosen)

    def close(self) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()

    def _write(
        self, kind: str, step: int, figures: dict[str, Any], notes: Mapping[str, Any] | None = None
    ) -> None:
        """Figures go to TensorBoard too; notes are no curves."""
        self._file.write(json.dumps({"kind": kind, "step": step, **(notes or {}), **figures}) + "\n")
        self._file.flush()
        if self._board is not None:
            for name, value in figures.items():
                if isinstance(value, Mapping):
                    for part, one in value.items():
                        self._board.add_scalar(f"{name}/{part}", one, step)
                elif value is not None:
                    self._board.add_scalar(f"{kind}/{name}", value, step)


def _figures(validation: Validation) -> dict[str, Any]:
    return {"loss": validation.loss, **validation.scores}


def read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a record; what a killed process left unfinished is passed over."""
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n"):
        if (figures := _figures_of(line)) is not None:
            yield figures


def _figures_of(line: bytes) -> dict[str, Any] | None:
    try:
        figures = json.loads(line)
    except ValueError:
        return None
    return figures if isinstance(figures, dict) and {"kind", "step"} <= figures.keys() else None


_TAIL = 1 << 16  # bytes


def newest_metrics(path: Path, kind: str) -> dict[str, Any] | None:
    """The last line of a kind, from the end of a record that may be long."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        lines = file.read().split(b"\n")
    return next(
        (figures for figures in map(_figures_of, reversed(lines)) if figures and figures["kind"] == kind),
        None,
    )


def _tensorboard(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(folder, purge_step=step + 1)
