import re
from pathlib import Path

from regard.config import PRESETS, load_config, recipes
from regard.config.settings import USUAL
from regard.metrics import METRICS, PERPLEXITY, TRAITS

PAGE = (Path(__file__).parent.parent.parent / "docs/summaries.md").read_text(encoding="utf-8")


def column(heading: str) -> list[str]:
    """The names in the first column of a section's table."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [
        name
        for line in section.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([\w.]+)`", line.split("|")[1])
    ]


def test_the_page_tells_what_is_usual() -> None:
    named = column("What is usual for this task")
    usual = [f"{section}.{name}" for section, settings in USUAL["summarise"].items() for name in settings]
    assert named == usual
    assert load_config("titles").search.no_repeat == 3


def test_the_page_names_scores_presets_and_the_recipe_that_exist() -> None:
    scores = column("Scores")
    assert set(scores) == {name for name in METRICS if name.startswith("rouge")} | {PERPLEXITY, *TRAITS}
    assert set(column("Five systems on the same data")) <= set(PRESETS)
    assert len(column("Five systems on the same data")) == 5
    assert "titles" in recipes()
