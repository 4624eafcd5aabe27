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
