import io
import logging

import pytest
from rich.console import Console
from rich.table import Table

from regard.cli import console

HOSTILE = "[/x] [bold]b[/bold] :smile: [link=x]"


def printed(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_markup_and_emoji_in_peoples_text_come_out_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(HOSTILE, box=None)
    table.add_row(HOSTILE)
    for place in (console.results, console.notes):
        place.print(HOSTILE)
        place.print(table)
    out, err = printed(capsys)
    assert [line.strip() for line in out.splitlines()] == [HOSTILE] * 3
    assert [line.strip() for line in err.splitlines()] == [HOSTILE] * 3


def test_an_error_is_one_line_and_sends_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    assert console.fail(f"a\x1b]0;title\x07b\nc {HOSTILE}") == 2
    assert printed(capsys) == ("", f"Error: a\\x1b]0;title\\x07b↵c {HOSTILE}\n")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_warning_that_quotes_a_source_sends_no_control_characters(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(console, "notes", Console(file=stream, markup=False, width=200))
    logger = logging.getLogger("regard")
    monkeypatch.setattr(logger, "handlers", [])
    console.listen_to_warnings()
    logger.warning("cut: %s", "\x1b[2J[/x] :smile:")
    assert "\\x1b[2J[/x] :smile:" in stream.getvalue()
    assert "\x1b[2J" not in stream.getvalue()


def test_of_a_warning_that_comes_often_the_first_few_are_shown_and_the_rest_is_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("regard")
    monkeypatch.setattr(logger, "handlers", [])
    first_few = console.listen_to_warnings()
    for number in range(1000):
        logger.warning("Source %d is long.", number, extra={"counted_as": "sources were cut"})
        if number < 3:
            logger.warning("Target %d is long.", number, extra={"counted_as": "targets were cut"})
    for number in range(5):
        logger.warning("Something else, number %d.", number)
    first_few.tell_the_rest()
    _, said = printed(capsys)
    lines = said.splitlines()
    assert sum("Source" in line for line in lines) == sum("Target" in line for line in lines) == 3
    assert sum("Something else" in line for line in lines) == 5
    assert lines[-1] == "Warning: 997 more sources were cut; 1,000 in all."
    assert len(lines) == 12


def test_the_same_one_again_is_counted_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("regard")
    monkeypatch.setattr(logger, "handlers", [])
    first_few = console.listen_to_warnings()
    for _ in range(3):  # an evaluation after each of some validations, say
        for number in range(5):
            told = {"counted_as": "sources were cut", "told_of": f"source {number}"}
            logger.warning("Source %d is long.", number, extra=told)
    first_few.tell_the_rest()
    said = printed(capsys)[1]
    assert said.count("is long") == 3
    assert "2 more sources were cut; 5 in all." in said
