import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regard.cli.app import app
from regard.metrics import METRICS, RESAMPLES, TRIALS
from regard.report import SHOWN

PAGE = (Path(__file__).parent.parent.parent / "docs/evaluation.md").read_text(encoding="utf-8")
(BLOCK,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("line", BLOCK.splitlines())
def test_every_command_of_the_page_is_understood(line: str) -> None:
    done = CliRunner().invoke(app, [*shlex.split(line)[1:], "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    for option in re.findall(r" (--\w+)", line):
        assert option in done.output


def test_the_page_lists_every_metric_with_its_direction() -> None:
    rows = re.findall(r"^\| (`\w+`[`\w, ]*) \|.*\| ([↑↓]) \|$", PAGE, re.MULTILINE)
    told = {name: arrow for names, arrow in rows for name in re.findall(r"`(\w+)`", names)}
    assert told == {name: "↑" if make().higher_is_better else "↓" for name, make in METRICS.items()}


def test_the_page_tells_the_numbers_of_the_code() -> None:
    assert f"{RESAMPLES:,} times" in PAGE
    assert f"{TRIALS:,} trials" in PAGE
    assert SHOWN == 6
    assert "the six worst and the six most typical" in PAGE
