import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from regard.cli.app import app
from regard.config import PRESETS

PAGE = (Path(__file__).parent.parent.parent / "docs/engines.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]


def test_every_command_of_the_page_is_understood() -> None:
    lines = [line for line in COMMANDS if line.startswith("regard")]
    assert len(lines) >= 9
    for line in lines:
        words = shlex.split(line.split("  #")[0])[1:]
        said = CliRunner().invoke(app, [words[0], "--help"], env={"COLUMNS": "200"}).output
        assert all(word in said for word in words if word.startswith("-")), line


def test_the_presets_that_it_names_are_there() -> None:
    (sentence,) = re.findall(r"the presets (.*?), with any widths", PAGE, re.DOTALL)
    named = [f"transformer{name.removeprefix('transformer')}" for name in re.findall(r"`(\w+)`", sentence)]
    assert len(named) == 5
    assert set(named) <= set(PRESETS)
