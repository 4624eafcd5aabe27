import io
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
