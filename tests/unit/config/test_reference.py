"""Settings as a page."""

from pathlib import Path

import pytest

from regard.config import Config
from regard.config.reference import as_markdown, sections

PAGE = Path(__file__).parent.parent.parent.parent / "docs/settings.md"


def test_every_setting_says_what_it_means() -> None:
    mute = [
        f"{one.name}.{setting.name}" for one in sections() for setting in one.settings if not setting.meaning
    ]
    assert not mute


def test_every_default_of_a_configuration_is_told() -> None:
    told = {
        f"{one.name}.{setting.name}": setting.default
        for one in reversed(sections())  # of kinds, the first is the default one
        for setting in one.settings
    }
    default = Config()
    assert told["training.clip"] == str(default.training.clip) == "1.0"
    assert told["model.encoder.cell"] == f'"{default.model.encoder.cell}"'  # type: ignore[union-attr]
    assert told["data.filter.duplicates"] == "false"
    for section in ("training", "search", "evaluation"):
        names = {name.removeprefix(f"{section}.") for name in told if name.startswith(f"{section}.")}
        assert names == set(type(getattr(default, section)).model_fields)


def test_a_part_is_found_by_its_name() -> None:
    assert {one.name for one in sections("model.context")} == {
        "model.context.encoder",
        "model.context.attention",
    }
    assert [one.choice for one in sections("model.encoder.backbone")] == ['kind = "picture"']
    assert not sections("model.encode")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("training.label_smoothing", "a number from 0 below 1"),
        ("training.steps", "a whole number from 1"),
        ("data.train", "files"),
        ("data.columns", "2 of: a whole number from 1"),
        ("model.attention.selection", "`soft`, `sparse`, `hard`, `nearest`"),
        ("training.ema", "a number from 0 below 1"),
    ],
)
def test_values_are_told_with_the_bounds_that_matter(name: str, values: str) -> None:
    ((setting,),) = [one.settings for one in sections(name)]
    assert setting.values == values


def test_the_page_of_settings_is_what_the_command_prints() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page[page.index("\n## ") + 1 :] == as_markdown(sections())
