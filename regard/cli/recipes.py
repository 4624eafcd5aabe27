"""regard recipes"""

from rich.table import Table

from regard.cli.console import results


def recipes() -> None:
    """List the configurations that ship with Regard."""
    from regard.config import recipes as known

    table = Table("recipe", "what it does", box=None, padding=(0, 2, 0, 0))
    for name, file in known().items():
        table.add_row(name, file.read_text(encoding="utf-8").splitlines()[0].lstrip("# "))
    results.print(table)
