"""regard recipes"""

from rich.table import Table
from rich.text import Text

from regard.cli.console import results

VOCABULARY = 30_000  # for the sizes shown: what the papers had, roughly


def recipes() -> None:
    """List the configurations, the comparisons and the models out of papers that ship with Regard."""
    from regard.build import parameters
    from regard.comparing.files import comparisons
    from regard.config import PRESETS, of_preset
    from regard.config import recipes as known

    table = Table("recipe", "what it does", box=None, padding=(0, 2, 0, 0))
    for name, file in known().items():
        table.add_row(name, Text(file.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")))
    results.print(table)
    results.print()
    table = Table("comparison", "what it compares", box=None, padding=(0, 2, 0, 0))
    for name, file in comparisons().items():
        table.add_row(name, Text(file.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")))
    results.print(table)
    results.print()
    table = Table("model.preset", "million parameters", "out of", box=None, padding=(0, 2, 0, 0))
    for name, preset in PRESETS.items():
        size = parameters(of_preset(name), vocabulary=VOCABULARY) / 1e6
        table.add_row(name, f"{size:.0f}", Text((preset.__doc__ or "").splitlines()[0]))
    results.print(table)
    results.print(
        f"Sizes are the papers' own, with {VOCABULARY:,} pieces on each side; any setting can be changed."
    )
