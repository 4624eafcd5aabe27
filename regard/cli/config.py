"""regard config"""

import json

import typer

from regard.cli.arguments import RecipeArgument, SetOption

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
