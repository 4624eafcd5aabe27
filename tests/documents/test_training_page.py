import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regard.cli.app import app
from regard.config import Config, load_config
from regard.training import DECAYS, FEEDINGS

PAGE = (Path(__file__).parent.parent.parent / "docs/training.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("regard train")])
def test_every_training_of_the_page_has_settings_that_fit(line: str) -> None:
    words = shlex.split(line)
    changes = [value for option, value in pairwise(words) if option == "--set"]
    assert changes
    assert load_config(words[2], changes) != load_config(words[2])


@pytest.mark.parametrize("line", [line for line in COMMANDS if not line.startswith("regard train")])
def test_every_other_command_of_the_page_is_understood(line: str) -> None:
    done = CliRunner().invoke(app, [*shlex.split(line)[1:], "--help"])
    assert done.exit_code == 0
    for option in re.findall(r" (--\w+)", line):
        assert option in done.output


def test_every_setting_of_the_page_exists() -> None:
    named = set(re.findall(r"`training\.(\w+)", PAGE))
    assert len(named) > 8
    assert named <= set(Config.model_fields["training"].annotation.model_fields)


def test_the_page_lists_every_feeding_and_every_decay() -> None:
    fed = PAGE[PAGE.index("## What the decoder is fed") :]
    assert re.findall(r"^\| `(\w+)` \|", fed, re.MULTILINE) == list(FEEDINGS)
    for name in DECAYS:
        assert f"`{name}`" in PAGE
