"""A training as a person watches it: a live line on a terminal, plain lines elsewhere."""

from collections.abc import Iterable

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from regard.cli.console import notes
from regard.core.figures import clock, figure, finer
from regard.training import Averaged, Budget, Event, Noted, Progressed, Spent, Validated, Validation


def show(events: Iterable[Event], budget: Budget) -> Event | None:
    """Shows every event and returns the last one."""
    return _live(events, budget) if notes.is_terminal else _plain(events, budget)


def _live(events: Iterable[Event], budget: Budget) -> Event | None:
    last: Event | None = None
    bar = Progress(
        TextColumn("{task.description}", style="bold"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[figures]}"),
        TimeRemainingColumn(),
        console=notes,
        expand=True,
        speed_estimate_period=600,  # seconds: there may be minutes between two events
    )
    with bar:
        task: TaskID | None = None
        for event in events:
            last = event
            if isinstance(event, Noted):
                notes.print(event.text)
                continue
            if task is None:
                # From here, not from 0: what an earlier sitting did says nothing of the speed of this one.
                task = bar.add_task("training", total=budget.steps, completed=event.step, figures="")
            if isinstance(event, Progressed):
                total = _steps(budget, event)
                bar.update(task, completed=event.step, total=total, figures=_figures(event))
            elif line := _line(event):
                bar.update(task, completed=event.step)
                notes.print(line)
    return last


def _plain(events: Iterable[Event], budget: Budget) -> Event | None:
    last: Event | None = None
    first: Progressed | None = None
    for event in events:
        last = event
        if isinstance(event, Progressed):
            steps = _steps(budget, event)
            left = clock(_seconds_per_step(first, event) * (steps - event.step))
            first = first or event
            about = "" if steps == budget.steps else "about "
            notes.print(f"step {event.step:>6,} of {about}{steps:,}  {_figures(event)}  {left} left")
        elif line := _line(event):
            notes.print(line)
    return last


def _steps(budget: Budget, now: Progressed) -> int:
    """In all, as far as it can be known: the clock or the pieces may end it before the last step."""
    spent = Spent(now.step, now.tokens, now.seconds)
    return now.step if budget.over(spent) else round(budget.promised(spent))


def _seconds_per_step(first: Progressed | None, now: Progressed) -> float:
    """Since the first one of this sitting: an earlier one may have been on another machine."""
    if first is None:
        return now.seconds / now.step
    return (now.seconds - first.seconds) / (now.step - first.step)


def _figures(event: Progressed) -> str:
    return f"loss {finer(event.loss)}  {event.tokens_per_second:,.0f} pieces/s"


def _line(event: Event) -> str | None:
    if isinstance(event, Noted):
        return event.text
    if isinstance(event, Validated):
        best = "  (best so far)" if event.is_best else ""
        return f"validation at step {event.step:,}: {_found(event.validation)}{best}"
    if isinstance(event, Averaged):
        outcome = (
            f"better than step {event.best:,}: it becomes the model"
            if event.is_best
            else f"not better than step {event.best:,}, which stays the model"
        )
        steps = ", ".join(f"{step:,}" for step in sorted(event.steps))
        return f"mean of the checkpoints at steps {steps}: {_found(event.validation)}  ({outcome})"
    return None


def _found(validation: Validation) -> str:
    scores = "".join(f"  {name} {figure(value)}" for name, value in validation.scores.items())
    return f"loss {finer(validation.loss)}{scores}"
