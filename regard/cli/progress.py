"""A training as a person watches it: a live line on a terminal, plain lines elsewhere."""

from collections.abc import Iterable

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from regard.cli.console import notes
from regard.training import Event, Noted, Progressed, Validated


def show(events: Iterable[Event], steps: int) -> Event | None:
    """Shows every event and returns the last one."""
    return _live(events, steps) if notes.is_terminal else _plain(events, steps)


def _live(events: Iterable[Event], steps: int) -> Event | None:
    last: Event | None = None
    bar = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[figures]}"),
        TimeRemainingColumn(),
        console=notes,
        expand=True,
    )
    with bar:
        task: TaskID | None = None
        for event in events:
            last = event
            if isinstance(event, Noted):
                notes.print(event.text, markup=False)
                continue
            if task is None:
                task = bar.add_task("training", total=steps, figures="")
            if isinstance(event, Progressed):
                bar.update(task, completed=event.step, figures=_figures(event))
            elif line := _line(event):
                bar.update(task, completed=event.step)
                notes.print(line, markup=False)
    return last


def _plain(events: Iterable[Event], steps: int) -> Event | None:
    last: Event | None = None
    for event in events:
        last = event
        if isinstance(event, Progressed):
            per_step = event.seconds / event.step
            left = _duration(per_step * (steps - event.step))
            notes.print(f"step {event.step:>6,} of {steps:,}  {_figures(event)}  {left} left", markup=False)
        elif line := _line(event):
            notes.print(line, markup=False)
    return last


def _figures(event: Progressed) -> str:
    return f"loss {event.loss:.4f}  {event.tokens_per_second:,.0f} pieces/s"


def _line(event: Event) -> str | None:
    if isinstance(event, Noted):
        return event.text
    if isinstance(event, Validated):
        scores = "  ".join(f"{name} {value:.2f}" for name, value in event.validation.scores.items())
        best = "  (best so far)" if event.is_best else ""
        return f"validation at step {event.step:,}: loss {event.validation.loss:.4f}  {scores}{best}"
    return None


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
