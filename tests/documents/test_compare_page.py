import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from commands import TINY
from typer.testing import CliRunner

from regard.cli.app import app
from regard.comparing.lineups import Wishes, line_up
from regard.comparing.sweeping import parse_range
from regard.comparing.varying import parse_variations
from regard.config import load_config

PAGE = (Path(__file__).parent.parent.parent / "docs/compare.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_page_is_understood(line: str, tmp_path: Path) -> None:
    _, command, recipe, *words = shlex.split(line)
    help_text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    for option in re.findall(r" (--\w+)", line):
        assert option in help_text
    if command == "compare":
        given = {
            name: [value for option, value in pairwise(words) if option == name]
            for name in ("--set", "--vary")
        }
        line_up([recipe], Wishes(given["--set"], parse_variations(given["--vary"])), tmp_path)
    for value in (value for option, value in pairwise(words) if option == "--over"):
        found = parse_range(value)
        load_config(recipe, [f"{found.key}={found.values[0] if found.values else found.low}"])


def test_the_comparison_file_of_the_page_is_one(tmp_path: Path) -> None:
    (file,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "mine.toml").write_text(TINY)
    (tmp_path / "both.toml").write_text(file)
    lineup = line_up([str(tmp_path / "both.toml")], Wishes(), tmp_path / "runs")
    assert {name: len(runs) for name, runs in lineup.models.items()} == {"fixed vector": 3, "attention": 3}
