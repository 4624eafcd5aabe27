import logging
from pathlib import Path

import pytest

from regard.data import Pair, TsvFile
from regard.tasks.text import Examples, OwnFiles
from regard.tasks.translation import Translation
from regard.viewing import TextView

# Every source has two translations.
PAIRS = [Pair(f"source {number}", f"{way} {number}") for number in range(30) for way in ("so", "or so")]


def written(path: Path, pairs: list[Pair]) -> TsvFile:
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
    return TsvFile(path)


def examples(own: OwnFiles, *, seed: int = 1) -> Examples:
    return Translation(own, validation=6, test=10, seed=seed).examples()


def sources(pairs: object) -> set[str]:
    return {pair.source for pair in pairs}  # type: ignore[attr-defined]


def test_no_two_parts_share_a_source_sentence(tmp_path: Path) -> None:
    found = examples(OwnFiles([written(tmp_path / "a.tsv", PAIRS)], [], []))
    train = list(found.train())
    assert (len(train), len(found.validation), len(found.test)) == (44, 6, 10)
    assert sorted([*train, *found.validation, *found.test]) == sorted(PAIRS)
    assert not sources(train) & (sources(found.validation) | sources(found.test))
    assert not sources(found.validation) & sources(found.test)


def test_the_seed_decides_which_are_split_off(tmp_path: Path) -> None:
    own = OwnFiles([written(tmp_path / "a.tsv", PAIRS)], [], [])
    assert examples(own).test == examples(own).test
    assert examples(own).test != examples(own, seed=2).test


def test_training_pairs_whose_source_is_held_out_are_left_out_and_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    held = [Pair("source 3", "yet another way"), Pair("new", "neu")]
    own = OwnFiles(
        [written(tmp_path / "a.tsv", PAIRS)],
        [written(tmp_path / "b.tsv", held)],
        [written(tmp_path / "c.tsv", PAIRS[:1])],
    )
    found = examples(own)
    with caplog.at_level(logging.WARNING, logger="regard"):
        first, second = list(found.train()), list(found.train())
    assert first == second == [pair for pair in PAIRS if pair.source not in ("source 0", "source 3")]
    assert (found.validation, found.test) == (held, PAIRS[:1])
    assert caplog.messages == ["4 training pairs are left out: validation or test has the same."]


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
