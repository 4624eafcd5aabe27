import re
import tomllib
from pathlib import Path

from regard.config import parse_config, recipes
from regard.metrics import METRICS

PAGE = (Path(__file__).parent.parent.parent / "docs/translation.md").read_text(encoding="utf-8")


def test_the_configuration_of_the_page_is_valid() -> None:
    whole, pieces = (
        tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    )
    assert parse_config(whole, origin="the page").task.name == "translation"
    assert parse_config({**whole, **pieces}, origin="the page").text.source.kind == "sentencepiece"


def test_the_page_names_metrics_and_recipes_that_exist() -> None:
    named = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert len(named) == 6
    assert set(named) <= set(METRICS)
    assert {name for name in recipes() if name.startswith("multi30k")} == set(
        re.findall(r"`regard train (multi30k[\w-]+)`", PAGE)
    )
