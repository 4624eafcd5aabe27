import gzip
import json
from pathlib import Path

import pytest

from regard.core.errors import UserError
from regard.data import JsonlFile, Pair, PairFile, ParallelFiles, TsvFile, read_pairs


def written(path: Path, text: str) -> Path:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_several_files_of_every_kind_are_read_in_order(tmp_path: Path) -> None:
    files: list[PairFile] = [
        TsvFile(written(tmp_path / "a.tsv", "a\u2028\tA\r\n\tonly target\n")),
        TsvFile(written(tmp_path / "b.tsv.gz", "b\tB")),
        JsonlFile(written(tmp_path / "c.jsonl", '{"target": "C", "source": "c\\tc", "more": 1}\n')),
        JsonlFile(written(tmp_path / "d.jsonl.gz", '{"de": "d", "en": "D"}\n'), source="de", target="en"),
        ParallelFiles(written(tmp_path / "e.de", "e\n\nee"), written(tmp_path / "e.en.gz", "E\nx\tx\nEE\n")),
    ]
    expected = [
        Pair("a\u2028", "A"),
        Pair("", "only target"),
        Pair("b", "B"),
        Pair("c\tc", "C"),
        Pair("d", "D"),
        Pair("e", "E"),
        Pair("", "x\tx"),
        Pair("ee", "EE"),
    ]
    assert list(read_pairs(files)) == expected
    assert list(read_pairs(files)) == expected, "files are read as often as asked"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\nno tab\n", r"x\.tsv, line 2: .* found no tab\. Is this a parallel text\?"),
        ("a\tb\tc\td\n", r"x\.tsv, line 1: .* found 3 tabs"),
        ("a\tb\n\n", r"x\.tsv, line 2: .* the line is empty"),
    ],
)
def test_a_line_that_is_not_two_columns_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        list(read_pairs([TsvFile(written(tmp_path / "x.tsv", text))]))


def test_columns_are_chosen_and_may_be_swapped(tmp_path: Path) -> None:
    path = written(tmp_path / "x.tsv", "a\tb\tc\r\nd\te\tf\tg\n")
    assert list(read_pairs([TsvFile(path, (3, 1))])) == [Pair("c", "a"), Pair("f", "d")]
    with pytest.raises(UserError, match=r"x\.tsv, line 1: expected 4 columns, .* but found 3"):
        list(read_pairs([TsvFile(path, (4, 1))]))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"source": "a"', "found a mistake"),
        ("", "the line is empty"),
        ("[1]", "expected a JSON object"),
        ('"text"', "expected a JSON object"),
        ('{"source": "a"}', "there is no field 'target'"),
        ('{"source": "a", "targett": "b"}', "Did you mean 'targett'"),
        ('{"source": "a", "target": null}', "'target' must be text in quotes but is null"),
        ('{"source": 12, "target": "b"}', "'source' must be text in quotes but is 12"),
        ('{"source": "a", "source": "b", "target": "c"}', "'source' appears twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"source": ' + "1" * 5_000 + "}", "found a mistake"),
    ],
)
def test_a_json_line_that_is_no_pair_is_refused(tmp_path: Path, line: str, message: str) -> None:
    good = json.dumps({"source": "a", "target": "b"})
    with pytest.raises(UserError, match=rf"x\.jsonl, line 2: .*{message}"):
        list(read_pairs([JsonlFile(written(tmp_path / "x.jsonl", f"{good}\n{line}\n"))]))


@pytest.mark.parametrize(("sources", "targets"), [(3, 5), (5, 3), (0, 1)])
def test_files_that_are_not_parallel_are_refused_with_both_counts(
    tmp_path: Path, sources: int, targets: int
) -> None:
    source = written(tmp_path / "x.de", "s\n" * sources)
    target = written(tmp_path / "x.en", "t\n" * targets)
    with pytest.raises(UserError, match=rf"x\.de has {sources} lines but .*x\.en has {targets}"):
        list(read_pairs([ParallelFiles(source, target)]))
