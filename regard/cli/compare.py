"""regard compare"""

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from regard.cli.arguments import SetOption
from regard.cli.console import notes, results, side_by_side
from regard.cli.train import stopping
from regard.core.figures import finer

if TYPE_CHECKING:
    from regard.comparing.jobs import Happening, Job
    from regard.comparing.standings import Result


class Shown(StrEnum):
    table = "table"
    markdown = "markdown"
    json = "json"


def compare(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT...",
            help="Recipes, .toml configurations, run folders, or one comparison, such as ladder.",
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=A,B,C",
            help="A setting and its values, such as training.seed=1,2,3. Can be repeated.",
        ),
    ] = None,
    changes: SetOption = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="steps=N|tokens=N|minutes=N", help="What every run may take. Default: as it says itself."
        ),
    ] = None,
    reach: Annotated[
        float | None, typer.Option(help="Tell the time and the pieces that it took to reach this quality.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="The metric that decides. Default: the first of the configuration.")
    ] = None,
    against: Annotated[
        str, typer.Option(metavar="best|first|MODEL", help="Which model all others are compared with.")
    ] = "best",
    processes: Annotated[
        int, typer.Option(min=1, max=1000, help="Runs trained beside each other; they share the cores.")
    ] = 1,
    folder: Annotated[
        Path | None, typer.Option(help="Where the runs and the results go. Default: runs/compare-NAME.")
    ] = None,
    show: Annotated[Shown, typer.Option(help="What is printed; the files are written anyway.")] = Shown.table,
) -> None:
    """Train several models, or take trained ones, and say which is better, how surely and at what cost.

    The same command again goes on where it stopped. It writes compare.html, compare.png, compare.md and compare.json.
    """
    from regard.comparing.answers import missing, shared_test_set
    from regard.comparing.jobs import check_cores, threads_each, work
    from regard.comparing.lineups import Wishes, line_up
    from regard.comparing.saving import save_result
    from regard.comparing.standings import check_wishes
    from regard.comparing.standings import results as standings
    from regard.comparing.varying import parse_variations
    from regard.run import locked_folder

    folder = folder or Path("runs") / f"compare-{Path(what[0]).stem}"
    lineup = line_up(
        what, Wishes(changes or (), parse_variations(vary or ()), budget), folder, reach=reach, metric=metric
    )
    check_wishes(lineup, against)
    check_cores(processes)
    test = shared_test_set(lineup)
    jobs = missing(lineup, test)
    there = len(lineup.candidates) - len(jobs)
    notes.print(f"{len(lineup.candidates)} runs of {len(lineup.models)} models; {there} are done already.")
    folder.mkdir(parents=True, exist_ok=True)
    with locked_folder(folder, "Wait for it, or give another folder with --folder."):
        with stopping() as asked_to_stop:
            failed = _watch(work(jobs, processes=processes, stop=asked_to_stop), jobs)
            if number := asked_to_stop():
                again = shlex.join(["regard", *sys.argv[1:]])
                notes.print(f"Stopped and saved. To go on, run the same command again:\n  {again}")
                raise typer.Exit(128 + number)
        result = standings(
            lineup,
            test,
            folder=folder,
            threads=threads_each(processes),
            against=against,
            failed=failed,
            tell=lambda model: notes.print(f"measuring {model} ..."),
        )
        _print(result, show)
        for path in save_result(result, folder):
            notes.print(f"Wrote {path}.")
    if result.failed:
        raise typer.Exit(1)


def _watch(happenings: "Iterable[Happening]", jobs: "list[Job]") -> dict[str, str]:
    """Shows what happens; gives the runs that failed, and why."""
    from regard.comparing.jobs import Finished, Moved, Started
    from regard.training import Budget, Spent

    failed: dict[str, str] = {}
    done = 0
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[figures]}"),
        console=notes,
        transient=True,
        disable=not notes.is_terminal,
    ) as bars:
        tasks: dict[str, TaskID] = {}
        for event in happenings:
            name = str(event.candidate)
            match event:
                case Started():
                    tasks[name] = bars.add_task(name, total=1.0, figures="")
                    notes.print(f"{name}: started ({done + len(tasks)} of {len(jobs)})")
                case Moved():
                    training, line = event.candidate.config.training, event.line
                    spent = Spent(line["step"], line["tokens"], line["seconds"])
                    seconds = None if training.minutes is None else 60 * training.minutes
                    whole = Budget(training.steps, training.tokens, seconds).promised(spent)
                    figures = f"loss {finer(line['loss'])}  {line['tokens_per_second']:,.0f} pieces/s"
                    bars.update(tasks[name], completed=line["step"] / whole, figures=figures)
                case Finished():
                    bars.remove_task(tasks.pop(name))
                    done += 1
                    if event.problem:
                        failed[name] = event.problem
                    notes.print(f"{name}: {f'failed: {event.problem}' if event.problem else 'done'}")
    return failed


def _print(result: "Result", show: Shown) -> None:
    from regard.comparing.tables import document, legend, lengths, markdown, table

    if show is Shown.markdown:
        typer.echo(markdown(result), nl=False)
    elif show is Shown.json:
        typer.echo(json.dumps(document(result), indent=2, ensure_ascii=False))
    else:
        for part in _fitting(*table(result)):
            results.print(part)
        for line in legend(result):
            results.print(line, style="dim")
        results.print(f"\n{result.metric} by source length, in pieces (and how many sources):")
        for part in _fitting(*lengths(result)):
            results.print(part)


def _fitting(heads: "Sequence[str]", rows: "Sequence[Sequence[str]]") -> "Iterator[Table]":
    """One table or, where that is too wide for the screen, several with the models' names in each."""

    def part(columns: "Sequence[int]") -> Table:
        chosen = [0, *columns]
        return _drawn([heads[one] for one in chosen], [[row[one] for one in chosen] for row in rows])

    for number, columns in enumerate(side_by_side(range(1, len(heads)), part)):
        if number:
            results.print()
        yield part(columns)


def _drawn(heads: "Iterable[str]", rows: "Iterable[Iterable[str]]") -> Table:
    drawn = Table(box=None, padding=(0, 2, 0, 0))
    for place, head in enumerate(heads):
        drawn.add_column(Text(head), justify="left" if place == 0 else "right", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    return drawn
