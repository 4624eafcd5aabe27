import io
import os
import signal
import threading
from types import SimpleNamespace

import pytest

from regard.cli.lines import lines


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (b"\xef\xbb\xbf3 May\n\xef\xbb\xbf4 May\n", ["3 May", "\ufeff4 May"]),  # only at the very start
        (b"\xef\xbb\xbf\n", [""]),
        (b"\xef\xbb\xbf", []),
        (b"3 May", ["3 May"]),
    ],
)
def test_a_byte_order_mark_at_the_start_is_no_part_of_the_first_line(
    given: bytes, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(given)))
    assert list(lines()) == expected


def test_a_line_without_an_end_is_cut_at_a_character_and_shifts_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("regard.cli.lines.LONGEST_LINE", 100_001)
    reading, writing = os.pipe()
    text = ("ä" * 60_000 + "\nnext\n" + "b" * 100_001 + "\nlast").encode()
    thread = threading.Thread(target=_write, args=(writing, text))
    thread.start()
    with os.fdopen(reading, "rb") as source:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=source))
        assert list(lines()) == ["ä" * 50_000, "next", "b" * 100_001, "last"]
    thread.join()
    assert "line 1 has more than 100,001 bytes" in capsys.readouterr().err


def _write(pipe: int, content: bytes) -> None:
    with os.fdopen(pipe, "wb") as file:
        file.write(content)


def test_an_interrupt_that_python_forgot_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that is raised while an object is thrown away."""
    reading, writing = os.pipe()
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as stream:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=source))
            stream.write(b"3 May\n")
            given = lines()
            assert next(given) == "3 May"
            os.kill(os.getpid(), signal.SIGINT)
            stream.write(b"4 May\n")
            with pytest.raises(KeyboardInterrupt):
                next(given)
    finally:
        signal.signal(signal.SIGINT, before)
