from itertools import chain
from pathlib import Path

import pytest

from regard.core.errors import UserError
from regard.data import Filters, Pair, TsvFile
from regard.tasks.examples import Examples, OwnFiles
from regard.tasks.translation import Translation
from regard.viewing import TextView

# Every source has two translations.
PAIRS = [Pair(f"source {number}", f"{way} {number}") for number in range(30) for way in ("so", "or so")]


def written(path: Path, pairs: list[Pair]) -> TsvFile:
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
    return TsvFile(path)


def examples(own: OwnFiles, *, seed: int = 1, split_by: str = "source") -> Examples:
    return Translation(own, validation=6, test=10, seed=seed, split_by=split_by).examples()


def sources(pairs: object) -> set[str]:
    return {pair.source for pair in pairs}  # type: ignore[attr-defined]


def test_no_two_parts_share_a_source_sentence(tmp_path: Path) -> None:
    found = examples(OwnFiles([written(tmp_path / "a.tsv", PAIRS)], [], []))
    train = list(found.train())
    assert (len(train), len(found.validation), len(found.test)) == (44, 6, 10)
    assert sorted([*train, *found.validation, *found.test]) == sorted(PAIRS)
    assert not sources(train) & (sources(found.validation) | sources(found.test))
    assert not sources(found.validation) & sources(found.test)


@pytest.mark.parametrize(("split_by", "sides"), [("source", [0]), ("target", [1]), ("either", [0, 1])])
def test_no_two_parts_share_a_sentence_of_the_side_they_are_split_by(
    tmp_path: Path, split_by: str, sides: list[int]
) -> None:
    # Every source has two targets, or shares its only one with another.
    pairs = [*PAIRS, *(Pair(f"{way} {number}", f"target {number}") for number in range(30) for way in "ab")]
    found = examples(OwnFiles([written(tmp_path / "a.tsv", pairs)], [], []), split_by=split_by)
    parts = [list(found.train()), found.validation, found.test]
    assert sorted(chain(*parts)) == sorted(pairs)
    for side in (0, 1):
        texts = [{pair[side] for pair in part} for part in parts]
        shared = texts[0] & texts[1] | texts[0] & texts[2] | texts[1] & texts[2]
        assert bool(shared) == (side not in sides)


@pytest.mark.parametrize(
    ("split_by", "left"),
    [("source", ["b\tB", "c\tB"]), ("target", ["a\tA", "b\tB", "c\tB"]), ("either", ["b\tB", "c\tB"])],
)
def test_training_pairs_are_left_out_by_the_same_side(tmp_path: Path, split_by: str, left: list[str]) -> None:
    pairs = [Pair("a", "A"), Pair("b", "B"), Pair("c", "B"), Pair("d", "D")]
    validation, test = [Pair("a", "other")], [Pair("d", "D")]
    own = OwnFiles(
        [written(tmp_path / "a.tsv", pairs)],
        [written(tmp_path / "b.tsv", validation)],
        [written(tmp_path / "c.tsv", test)],
    )
    found = examples(own, split_by=split_by)
    assert ["\t".join(pair.sides) for pair in found.train()] == left


def test_with_either_a_common_target_is_enough_to_be_left_out(tmp_path: Path) -> None:
    own = OwnFiles(
        [written(tmp_path / "a.tsv", PAIRS)],
        [written(tmp_path / "b.tsv", [Pair("new", "so 3")])],
        [written(tmp_path / "c.tsv", [Pair("source 4", "new")])],
    )
    found = examples(own, split_by="either")
    kept = [pair for pair in PAIRS if pair.target != "so 3" and pair.source != "source 4"]
    assert list(found.train()) == kept
    assert found.reports() == ["3 training pairs are left out: validation or test has the same."]


def test_the_seed_decides_which_are_split_off(tmp_path: Path) -> None:
    own = OwnFiles([written(tmp_path / "a.tsv", PAIRS)], [], [])
    assert examples(own).test == examples(own).test
    assert examples(own).test != examples(own, seed=2).test


def test_training_pairs_whose_source_is_held_out_are_left_out_and_reported(tmp_path: Path) -> None:
    held = [Pair("source 3", "yet another way"), Pair("new", "neu")]
    own = OwnFiles(
        [written(tmp_path / "a.tsv", PAIRS)],
        [written(tmp_path / "b.tsv", held)],
        [written(tmp_path / "c.tsv", PAIRS[:1])],
    )
    found = examples(own)
    first, second = list(found.train()), list(found.train())
    assert first == second == [pair for pair in PAIRS if pair.source not in ("source 0", "source 3")]
    assert (found.validation, found.test) == (held, PAIRS[:1])
    assert found.reports() == ["4 training pairs are left out: validation or test has the same."]


def test_filters_are_for_training_pairs_and_what_is_split_off_them(tmp_path: Path) -> None:
    train = written(tmp_path / "a.tsv", [*PAIRS, Pair("same", "same"), *PAIRS])
    given = written(tmp_path / "b.tsv", [Pair("same", "same")])
    found = examples(OwnFiles([train], [given], [], Filters(identical=True, duplicates=True)))
    parts = [*found.train(), *found.test]
    assert sorted(parts) == sorted(PAIRS)
    assert found.validation == [Pair("same", "same")]
    assert found.reports() == [
        "filters: 60 of 121 pairs (left out: 60 that came before, 1 with the same text on both sides)"
    ]


def test_lines_that_are_no_pairs_stop_it_or_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(
        "no tab\n" + "".join(f"{a}\t{b}\n" for a, b in (pair.sides for pair in PAIRS)) + "\na\tb\tc\n\n"
    )
    file = TsvFile(tmp_path / "a.tsv")
    with pytest.raises(UserError, match=r"a\.tsv, line 1: "):
        examples(OwnFiles([file], [], []))
    found = examples(OwnFiles([file], [], [], skip_bad_lines=True))
    assert sorted([*found.train(), *found.validation, *found.test]) == sorted(PAIRS)
    assert found.reports() == [
        f"{file}: 4 lines were skipped: 2 empty, 1 without a tab, 1 with too many tabs (first: {file}, line 1)"
    ]


@pytest.mark.parametrize(
    ("languages", "sides"),
    [(("en", "pt-BR"), ("source (en)", "target (pt-BR)")), ((None, None), ("source", "target"))],
)
def test_pictures_name_the_languages(
    languages: tuple[str | None, str | None], sides: tuple[str, str]
) -> None:
    task = Translation(
        OwnFiles([], [], []),
        validation=1,
        test=1,
        seed=1,
        source_language=languages[0],
        target_language=languages[1],
    )
    assert task.view == TextView(sides=sides)
