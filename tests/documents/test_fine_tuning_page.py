import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from regard.cli.app import app
from regard.config import load_config

PAGE = (Path(__file__).parent.parent.parent / "docs/fine-tuning.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]
EXAMPLE, REMEMBERED = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_every_command_of_the_page_is_understood() -> None:
    lines = [line for line in COMMANDS if line.startswith("regard")]
    assert len(lines) >= 3
    for line in lines:
        words = shlex.split(line)[1:]
        said = CliRunner().invoke(app, [words[0], "--help"], env={"COLUMNS": "200"}).output
        assert all(word in said for word in words if word.startswith("--"))


def test_the_example_and_what_is_remembered_are_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(EXAMPLE + REMEMBERED)
    config = load_config(tmp_path / "short.toml")
    assert (config.task.name, config.training.steps) == ("dates", 200)
    assert config.origin is not None
    assert config.origin.run == "runs/dates"
