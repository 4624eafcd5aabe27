"""regard config"""

import json
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from regard.cli.arguments import RecipeArgument, SetOption
from regard.cli.console import results

config = typer.Typer(help="Show a configuration, or describe every setting.", no_args_is_help=True)


@config.command()
def show(recipe: RecipeArgument, changes: SetOption = None) -> None:
    """Print a whole configuration as TOML: every setting, defaults included."""
    from regard.config import load_config

    typer.echo(load_config(recipe, changes or []).to_toml(), nl=False)


@config.command()
def schema() -> None:
    """Print the JSON schema of a configuration: every setting with its type, default and meaning."""
    from regard.config import Config

    typer.echo(json.dumps(Config.model_json_schema(), indent=2))


@config.command()
def describe(
    section: Annotated[
        str,
        typer.Argument(
            metavar="[SECTION]", help="Such as training, model.encoder or model.encoder.layers. Default: all."
        ),
    ] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="As the tables of a page.")] = False,
) -> None:
    """Tell of every setting its default, its values and what it means."""
    from regard.config.reference import as_markdown, sections
    from regard.core.errors import UserError, did_you_mean

    chosen = sections(section)
    if not chosen:
        names = {one.name for one in sections()}
        settings = {f"{one.name}.{setting.name}" for one in sections() for setting in one.settings}
        near = did_you_mean(section, names | settings)
        hint = near if "Did you mean" in near else f" Sections are {', '.join(sorted(names))}."
        raise UserError(f"There is no section or setting {section!r}.{hint}")
    if markdown:
        typer.echo(as_markdown(chosen), nl=False)
        return
    for one in chosen:
        results.print(Text(one.title, style="bold"))
        if one.meaning:
            results.print(Text(one.meaning))
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for setting in one.settings:
            values = Text(setting.values.replace("`", ""), style="dim")
            table.add_row(setting.name, Text(setting.default), Text(f"{setting.meaning}\n").append(values))
        results.print(table)
        results.print()
