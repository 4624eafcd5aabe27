"""regard data"""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from regard.cli.console import notes, results
from regard.core.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from regard.data.sets import DataSet


def data(
    name: Annotated[str | None, typer.Argument(help="A set to fetch; left out: list them all.")] = None,
) -> None:
    """Fetch a public data set into the folder of data, or list the sets.

    The folder is REGARD_DATA, a variable of your shell. What is there already is checked and kept.
    """
    from regard.data.locating import data_folder
    from regard.data.sets import DATA_SETS

    if name is None:
        _print_sets(DATA_SETS, data_folder())
        return
    if name not in DATA_SETS:
        raise UserError(f"There is no data set {name!r}.{did_you_mean(name, DATA_SETS)}")
    _fetch(DATA_SETS[name], data_folder() / name)


def _print_sets(sets: "dict[str, DataSet]", folder: "Path") -> None:
    from regard.data.fetching import missing

    table = Table("set", "here", "what it is", "licence", box=None, padding=(0, 2, 0, 0))
    for name, one in sets.items():
        here = len(one.parts) - len(missing(one, folder / name))
        table.add_row(name, f"{here} of {len(one.parts)} files", Text(one.about), Text(one.licence))
    results.print(table)
    results.print(f"They are kept in {folder}. `regard data NAME` fetches what is missing of one.")


def _fetch(data_set: "DataSet", folder: "Path") -> None:
    from regard.data.fetching import fetch

    notes.print(f"{data_set.about}. Licence: {data_set.licence}.")
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        console=notes,
        transient=True,
        disable=not notes.is_terminal,
    ) as bars:
        tasks: dict[str, TaskID] = {}

        def show(address: str, done: int, total: int | None) -> None:
            if address not in tasks:
                tasks[address] = bars.add_task(address.rpartition("/")[2], total=total)
            bars.update(tasks[address], completed=done)

        for kept in fetch(data_set, folder, show):
            notes.print(str(kept))
    results.print(f"All {len(data_set.parts)} files are in {folder}.")
