import re
import tomllib
from pathlib import Path

from regard.config import parse_config, recipes

PAGE = (Path(__file__).parent.parent.parent / "docs/multilingual.md").read_text(encoding="utf-8")


def test_the_configurations_of_the_page_are_valid() -> None:
    whole, *more = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    config = parse_config(tomllib.loads(whole), origin="the page")
    assert config.task.name == "multilingual"
    for corpus in more:
        longer = parse_config(tomllib.loads(f"{whole}\n{corpus}"), origin="the page")
        assert len(longer.task.corpora) == len(config.task.corpora) + 1  # type: ignore[union-attr]


def test_the_recipe_of_the_page_is_there() -> None:
    (name,) = re.findall(r"`regard train (\S+)`", PAGE)
    assert name in recipes()
