"""Whatever is wrong with a file is said with its name and its line, or its line is skipped and counted."""

import gzip
from dataclasses import dataclass
from pathlib import Path

import pytest

from regard.core.errors import UserError
from regard.data import JsonlFile, Pair, PairFile, PairReader, ParallelFiles, TsvFile, rows_of

GOOD, GOOD_JSON = b"a\tA\n", b'{"source": "a", "target": "A"}\n'


@dataclass(frozen=True)
class Broken:
    """Files of these contents, and what is said of them."""

    files: dict[str, bytes | None]  # None: a folder
    said: str
    reason: str | None = None  # what its line is counted under; None: it can't be skipped


BROKEN = {
    "no tab": Broken({"x.tsv": GOOD + b"a A\n" + GOOD}, "x.tsv, line 2: .*no tab", "without a tab"),
    "three columns": Broken({"x.tsv": GOOD + b"a\tA\tB\n"}, "x.tsv, line 2: .*2 tabs", "with too many tabs"),
    "an empty line": Broken({"x.tsv": GOOD + b"\n" + GOOD}, "x.tsv, line 2: .*empty", "empty"),
    "a blank line": Broken({"x.tsv": GOOD + b"  \r\n"}, "x.tsv, line 2: .*no tab", "without a tab"),
    "carriage returns alone": Broken(
        {"x.tsv": GOOD + b"a\tA\rb\tB\rc\tC\n"}, "x.tsv, line 2: .*carriage return", "with too many tabs"
    ),
    "Latin-1": Broken({"x.tsv": GOOD + b"\xe9t\xe9\tA\n"}, "x.tsv, line 2: byte 1 .*not UTF-8", "not UTF-8"),
    "a character cut in two": Broken({"x.tsv": GOOD + b"a\t\xe2\x82\n"}, "x.tsv, line 2: byte 3", "not UTF-8"),
    "a half character in bytes": Broken({"x.tsv": GOOD + b"a\t\xed\xa0\x80\n"}, "x.tsv, line 2: byte 3", "not UTF-8"),
    "NUL": Broken({"x.tsv": GOOD + b"a\0\tA\n"}, "x.tsv, line 2: .*NUL", "with a NUL character"),
    "NUL on the other side": Broken(
        {"x.en": b"a\nb\n", "x.de": b"A\n\0\n"}, "x.de, line 2: .*NUL", "with a NUL character"
    ),
    "a line of 10 MB": Broken(
        {"x.tsv": GOOD + b"a\t" + b"A" * 10_000_000 + b"\n" + GOOD}, "x.tsv, line 2: longer than 10,000,000", "too long"
    ),
    "a line of 10 MB without end": Broken(
        {"x.tsv.gz": GOOD + b"a" * 30_000_000}, "x.tsv.gz, line 2: longer than 10,000,000", "too long"
    ),
    "UTF-16": Broken({"x.tsv": "a\tA\n".encode("utf-16")}, "x.tsv, line 1: .*UTF-16"),
    "UTF-16, the other way": Broken({"x.tsv": b"\xfe\xff" + "a\tA\n".encode("utf-16-be")}, "x.tsv, line 1: .*UTF-16"),
    "UTF-16 without a mark": Broken(
        {"x.en": b"a\n" + "b\n".encode("utf-16-be"), "x.de": b"a\nb\n"}, "x.en, line 2: .*NUL", "with a NUL character"
    ),
    "JSON cut off": Broken({"x.jsonl": GOOD_JSON + b'{"source": "a"\n'}, "x.jsonl, line 2: .*mistake", "not JSON"),
    "JSON with an empty line": Broken({"x.jsonl": GOOD_JSON + b"\n"}, "x.jsonl, line 2: .*empty", "empty"),
    "JSON without a field": Broken(
        {"x.jsonl": GOOD_JSON + b'{"source": "a"}\n'}, "x.jsonl, line 2: .*no field 'target'", "without a field"
    ),
    "JSON with a field twice": Broken(
        {"x.jsonl": GOOD_JSON + b'{"source": "a", "source": "b", "target": "c"}\n'},
        "x.jsonl, line 2: .*'source' appears twice",
        "not JSON",
    ),
    "JSON with a number": Broken(
        {"x.jsonl": GOOD_JSON + b'{"source": "a", "target": 1}\n'},
        "x.jsonl, line 2: .*must be text",
        "with a field that is no text",
    ),
    "JSON with a list": Broken(
        {"x.jsonl": GOOD_JSON + b'["a", "A"]\n'}, "x.jsonl, line 2: .*JSON object", "without a JSON object"
    ),
    "JSON with half a character": Broken(
        {"x.jsonl": GOOD_JSON + b'{"source": "a\\ud83d", "target": "A"}\n'},
        "x.jsonl, line 2: .*half a character",
        "with half a character",
    ),
    "JSON with NUL": Broken(
        {"x.jsonl": GOOD_JSON + b'{"source": "a\\u0000", "target": "A"}\n'},
        "x.jsonl, line 2: .*NUL",
        "with a NUL character",
    ),
    "JSON without end": Broken({"x.jsonl": GOOD_JSON + b"[" * 100_000}, "x.jsonl, line 2: .*nested", "not JSON"),
    "one side shorter": Broken({"x.en": b"a\nb\n", "x.de": b"A\n"}, "x.en has 2 lines but .*x.de has 1"),
    "bad bytes on one side": Broken(
        {"x.en": b"a\nb\n\nc\n", "x.de": b"A\n\xff\n\nC\n"}, "x.de, line 2: byte 1 .*not UTF-8", "not UTF-8"
    ),
    "an empty file": Broken({"x.tsv": b""}, "x.tsv: no pair to work with: there is none"),
    "only a byte order mark": Broken({"x.tsv": b"\xef\xbb\xbf"}, "x.tsv: no pair to work with: there is none"),
    "only blanks": Broken({"x.en": b" \n\n\t\n", "x.de": b"\n \n\n"}, "x.en with .*x.de: no pair .*all 3 .*empty side"),
    "one side blank": Broken({"x.tsv": b"a\t\nb\t \n"}, "x.tsv: no pair to work with: all 2 have an empty side"),
    "gzip cut off": Broken({"x.tsv.gz": gzip.compress(GOOD * 1000)[:-9]}, "x.tsv.gz: .*damaged or cut off"),
    "no gzip": Broken({"x.tsv.gz": b"plain"}, "x.tsv.gz: .*must not be called .gz"),
    "a folder": Broken({"x.tsv": None}, "x.tsv: this is a folder"),
    "nothing": Broken({}, "x.tsv: there is no such file"),
}  # fmt: skip


def written(folder: Path, broken: Broken) -> PairFile:
    for name, content in broken.files.items():
        path = folder / name
        if content is None:
            path.mkdir()
        elif path.suffix == ".gz" and broken.reason:
            path.write_bytes(gzip.compress(content, 1))
        else:
            path.write_bytes(content)
    names = list(broken.files) or ["x.tsv"]
    if len(names) == 2:
        return ParallelFiles(folder / names[0], folder / names[1])
    return (JsonlFile if ".jsonl" in names[0] else TsvFile)(folder / names[0])


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told_by_its_name_and_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=BROKEN[name].said) as caught:
        list(PairReader([written(tmp_path, BROKEN[name])])())
    assert ("--on-bad-line skip" in str(caught.value)) == (BROKEN[name].reason is not None)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_can_be_skipped_and_a_broken_file_can_not(name: str, tmp_path: Path) -> None:
    broken = BROKEN[name]
    reader = PairReader([written(tmp_path, broken)], skip=True)
    if broken.reason is None:
        with pytest.raises(UserError, match=broken.said):
            list(reader())
        return
    pairs = list(reader())
    assert pairs
    assert set(pairs) <= {Pair("a", "A"), Pair("", ""), Pair("c", "C"), Pair("a", "a")}
    assert reader.skipped.reasons == {broken.reason: 1}
    assert str(reader.skipped).startswith(f"1 line was skipped: 1 {broken.reason} (first: ")
    assert "line 2)" in str(reader.skipped)


def test_files_that_are_only_odd_are_read(tmp_path: Path) -> None:
    odd = {
        "mark.tsv": b"\xef\xbb\xbfa\tA\n",
        "newlines.tsv": b"a\tA\r\nb\tB\nc\tC",
        "within.tsv": "a\u2028b\tA\u0085\f\n".encode(),
        "escape.jsonl": b'{"source": "\\ud83d\\udc36", "target": "A"}\n',
    }
    for name, content in odd.items():
        (tmp_path / name).write_bytes(content)
    assert list(rows_of(TsvFile(tmp_path / "mark.tsv"))) == [Pair("a", "A")]
    assert list(rows_of(TsvFile(tmp_path / "newlines.tsv"))) == [
        Pair("a", "A"),
        Pair("b", "B"),
        Pair("c", "C"),
    ]
    assert list(rows_of(TsvFile(tmp_path / "within.tsv"))) == [Pair("a\u2028b", "A\u0085\f")]
    assert list(rows_of(JsonlFile(tmp_path / "escape.jsonl"))) == [Pair("🐶", "A")]


def test_lines_of_all_files_are_counted_by_reason_and_the_first_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(GOOD + b"b\n\nc\n")
    (tmp_path / "y.tsv").write_bytes(b"\xff\tA\n" + GOOD)
    reader = PairReader([TsvFile(tmp_path / "x.tsv"), TsvFile(tmp_path / "y.tsv")], skip=True)
    for _ in range(2):
        assert list(reader()) == [Pair("a", "A"), Pair("a", "A")]
        assert str(reader.skipped) == (
            f"4 lines were skipped: 2 without a tab, 1 empty, 1 not UTF-8 (first: {tmp_path}/x.tsv, line 2)"
        )
    assert str(reader) == f"{tmp_path}/x.tsv and 1 more"


def test_files_with_nothing_but_bad_lines_say_why_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(b"b\nc\n")
    with pytest.raises(
        UserError, match=r"x\.tsv: no pair .* there is none; 2 lines were skipped: 2 without a tab"
    ):
        list(PairReader([TsvFile(tmp_path / "x.tsv")], skip=True)())
