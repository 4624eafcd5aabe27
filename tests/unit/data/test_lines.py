import gzip
from pathlib import Path

import pytest

from regard.core.errors import UserError
from regard.data import read_lines


def lines(path: Path, content: bytes) -> list[tuple[int, str]]:
    path.write_bytes(content)
    return list(read_lines(path))


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    text = "a\u2028b\u2029c\u0085d\fe\vf\rg\x1ch"
    assert lines(tmp_path / "x", f"{text}\n2".encode()) == [(1, text), (2, "2")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\nb\r", ["a\r", "b\r"]),
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb\xbf\n", [""]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
    ],
)
def test_line_ends_and_the_mark_at_the_start_are_removed(
    tmp_path: Path, content: bytes, expected: list[str]
) -> None:
    assert lines(tmp_path / "x", content) == list(enumerate(expected, start=1))


def test_a_packed_file_is_unpacked(tmp_path: Path) -> None:
    assert lines(tmp_path / "x.gz", gzip.compress("é\nb".encode())) == [(1, "é"), (2, "b")]


def test_bytes_that_are_not_utf8_are_found_to_the_byte(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"x, line 2: byte 3 of the line \(0xFF, byte 6 of the text\)"):
        lines(tmp_path / "x", b"ab\ncd\xff\n")


def test_a_character_cut_off_by_the_line_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 1: byte 1 of the line"):
        lines(tmp_path / "x", b"\xc3\n\xa9\n")


def test_a_line_without_end_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"ab\n" + b"c" * 50 + b"\n")
    with pytest.raises(UserError, match=r"line 2: longer than 10 bytes \(it starts at byte 4\)"):
        list(read_lines(tmp_path / "x", longest=10))
    (tmp_path / "x").write_bytes(b"123456789\n")
    assert list(read_lines(tmp_path / "x", longest=10)) == [(1, "123456789")]


def test_a_missing_file_and_a_folder_are_told_to_the_person(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file"):
        list(read_lines(tmp_path / "nothing"))
    with pytest.raises(UserError, match="this is a folder"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize("cut", [1, 5, 12, 30])
def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path, cut: int) -> None:
    packed = gzip.compress(bytes(range(32, 127)) * 3)
    with pytest.raises(UserError, match="damaged or cut off"):
        lines(tmp_path / "x.gz", packed[:cut])


def test_a_packed_file_that_is_damaged_or_none_is_refused(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(bytes(range(32, 127)) * 3))
    packed[20] ^= 0xFF
    with pytest.raises(UserError, match="damaged or cut off"):
        lines(tmp_path / "x.gz", bytes(packed))
    with pytest.raises(UserError, match=r"must not be called \.gz"):
        lines(tmp_path / "y.gz", b"plain text\n")
