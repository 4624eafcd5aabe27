"""regard sweep"""

import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from regard.cli.arguments import RecipeArgument, SetOption
from regard.cli.console import notes, results
from regard.cli.train import stopping
from regard.core.figures import figure, finer

if TYPE_CHECKING:
    from regard.comparing.sweeping import Sweep, Tried


def sweep(
    recipe: RecipeArgument,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=RANGE",
            help="A setting and where to look: 1e-4..1e-2:log, 64..256 or 0.1,0.3. Can be repeated.",
        ),
    ],
    changes: SetOption = None,
    trials: Annotated[int, typer.Option(min=1, max=100_000, help="How many to try, in all.")] = 20,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Decides what is drawn.")] = 1,
    folder: Annotated[
        Path | None, typer.Option(help="Where the trials go. Default: runs/sweep- and the recipe's name.")
    ] = None,
) -> None:
    """Search for better settings: train, give up what lags behind, and write the best configuration.

    The same command again goes on where it stopped. It writes best.toml.
    """
    from regard.comparing.sweeping import Sweep, parse_ranges
    from regard.core.allocation import keep_freed_memory

    keep_freed_memory()
    folder = folder or Path("runs") / f"sweep-{Path(recipe).stem}"
    with stopping() as asked_to_stop:
        search = Sweep(
            recipe,
            changes or (),
            parse_ranges(over),
            folder,
            seed=seed,
            stop=lambda: "stopped" if asked_to_stop() else None,
        )
        if search.over():
            notes.print(f"{search.over()} of {trials} trials are done already.")
        for tried in search.run(trials):
            _tell(tried)
        if number := asked_to_stop():
            again = shlex.join(["regard", *sys.argv[1:]])
            notes.print(f"Stopped and saved. To go on, run the same command again:\n  {again}")
            raise typer.Exit(128 + (number or signal.SIGTERM))
    _print(search, folder)


def _tell(tried: "Tried") -> None:
    from regard.training import Noted, Validated

    if isinstance(tried.event, Validated):
        found = tried.event.validation
        scores = "".join(f"  {name} {figure(value)}" for name, value in found.scores.items())
        notes.print(f"trial {tried.number}, step {tried.event.step:,}: loss {finer(found.loss)}{scores}")
    elif isinstance(tried.event, Noted) and tried.event.text.startswith("model:"):
        settings = "  ".join(f"{key}={value}" for key, value in tried.settings.items())
        notes.print(f"trial {tried.number}: {settings}")
    elif tried.trial is not None:
        outcome = finer(tried.trial.value) if tried.trial.value is not None else tried.trial.outcome
        notes.print(f"trial {tried.number}: {outcome}")


def _print(search: "Sweep", folder: Path) -> None:
    """The trials, the best first; those without a value last."""
    sign = -1 if search.higher_is_better else 1
    order = sorted(
        search.trials(), key=lambda one: (one.value is None, sign * (one.value or 0.0), one.number)
    )
    keys = [one.key for one in search.ranges]
    table = Table("trial", search.base.training.metric, *keys, box=None, padding=(0, 2, 0, 0))
    for one in order:
        value = one.outcome if one.value is None else finer(one.value)
        table.add_row(str(one.number), value, *(Text(one.settings.get(key, "")) for key in keys))
    results.print(table)
    best = search.best()
    if best is None:
        notes.print("No trial came to its end, so there is no best configuration.")
        raise typer.Exit(1)
    notes.print(
        f"Wrote {folder / 'best.toml'}. The model of that trial is {search.run_folder(best.number)}. Next:"
    )
    notes.print(f"  regard evaluate {search.run_folder(best.number)}")
    notes.print(f"  regard train {folder / 'best.toml'} --run {folder}-best --set training.seed=2")
