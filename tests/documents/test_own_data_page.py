import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regard.cli.app import app
from regard.data import Filters
from regard.starting.sizes import SENTENCES

PAGE = (Path(__file__).parent.parent.parent / "docs/own-data.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("regard")])
def test_every_command_of_the_page_is_understood(line: str) -> None:
    words = shlex.split(line)[1:]
    said = CliRunner().invoke(app, [words[0], "--help"], env={"COLUMNS": "200"}).output
    for word in words:
        assert not word.startswith("--") or word in said


def test_the_page_names_every_filter() -> None:
    _, _, section = PAGE.partition("## Filters")
    first_cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(first_cells)) == [one.name for one in fields(Filters)]


def test_the_page_lists_the_sizes_as_they_are() -> None:
    rows = re.findall(
        r"^\| (?:up to ([\d,]+)|more) \| `(\w+)`.*? \| ([\d.]+) \| ([\d,]+) \|$", PAGE, re.MULTILINE
    )
    assert [
        (preset, float(dropout), int(pieces.replace(",", ""))) for _, preset, dropout, pieces in rows
    ] == [(size.preset, size.dropout, size.vocabulary) for size in SENTENCES]
    assert [row[0] for row in rows[:-1]] == [f"{size.pairs:,}" for size in SENTENCES[:-1]]
