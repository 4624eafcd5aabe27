import io
import re
from collections.abc import Iterator

import pytest
import rich.progress
from rich.console import Console

from regard.cli import progress
from regard.training import Averaged, Budget, Ended, Event, Noted, Progressed, Validation


def progressed(step: int, seconds: float) -> Progressed:
    return Progressed(
        step=step,
        epoch=0,
        loss=1.0,
        learning_rate=0.1,
        gradient_norm=1.0,
        tokens=step,
        tokens_per_second=1.0,
        seconds=seconds,
    )


# An earlier sitting took ten seconds for each of 1000 steps; this one takes one.
RESUMED = [
    Noted("going on from step 1,000"),
    progressed(1010, 10_010),
    progressed(1020, 10_020),
    progressed(1030, 10_030),
    Ended(1030, "stopped", finished=False),
]


def test_the_time_left_in_plain_lines_is_at_the_speed_of_this_sitting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = Console(file=io.StringIO(), width=200)
    monkeypatch.setattr(progress, "notes", notes)
    assert progress.show(iter(RESUMED), Budget(1090)) is RESUMED[-1]
    assert isinstance(notes.file, io.StringIO)
    left = re.findall(r"step +([\d,]+) .*  ([\d:]+) left", notes.file.getvalue())
    assert left[1:] == [("1,020", "1:10"), ("1,030", "1:00")]


@pytest.mark.parametrize(
    ("is_best", "outcome"),
    [
        (True, "better than step 1,000: it becomes the model"),
        (False, "not better than step 1,000, which stays the model"),
    ],
)
def test_an_average_is_told_with_its_checkpoints_and_its_outcome(
    is_best: bool, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = Console(file=io.StringIO(), width=200)
    monkeypatch.setattr(progress, "notes", notes)
    validation = Validation(0.25, {"bleu": 31.5}, [])
    progress.show([Averaged(1030, (1030, 1000), {}, validation, is_best, best=1000)], Budget(1030))
    assert isinstance(notes.file, io.StringIO)
    said = f"mean of the checkpoints at steps 1,000, 1,030: loss 0.2500  bleu 31.50  ({outcome})\n"
    assert notes.file.getvalue() == said


def test_the_bar_of_a_resumed_training_starts_where_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    bars: list[rich.progress.Progress] = []
    starts: list[float] = []

    class Bar(rich.progress.Progress):
        def __init__(self, *columns: rich.progress.ProgressColumn, **options: object) -> None:
            super().__init__(*columns, get_time=lambda: clock[0], auto_refresh=False, **options)
            bars.append(self)

        def add_task(self, *arguments: object, **options: object) -> rich.progress.TaskID:
            task = super().add_task(*arguments, **options)
            starts.append(self.tasks[0].completed)
            return task

    def events() -> Iterator[Event]:
        for event in RESUMED:
            clock[0] += 60
            yield event

    monkeypatch.setattr(progress, "Progress", Bar)
    monkeypatch.setattr(progress, "notes", Console(file=io.StringIO(), force_terminal=True, width=200))
    progress.show(events(), Budget(1090))
    assert starts == [1010]
    assert bars[0].tasks[0].completed == 1030


def test_under_a_clock_the_steps_in_all_are_what_the_pace_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = Console(file=io.StringIO(), width=200)
    monkeypatch.setattr(progress, "notes", notes)
    progress.show(
        [progressed(10, 20.0), progressed(20, 40.0), progressed(51, 101.0)], Budget(1000, seconds=100)
    )
    assert isinstance(notes.file, io.StringIO)
    said = re.findall(r"step +(\d+) of (.*?)  .*  ([\d:]+) left", notes.file.getvalue())
    assert said == [("10", "about 50", "1:20"), ("20", "about 50", "1:00"), ("51", "about 51", "0:00")]
