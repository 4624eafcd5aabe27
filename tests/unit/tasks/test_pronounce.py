from pathlib import Path

import pytest

from regard.config import load_config
from regard.data import Pair
from regard.tasks.dictionaries import CmudictPackage, DictionaryFile
from regard.tasks.examples import OwnFiles
from regard.tasks.pronounce import Pronounce

WORDS = [Pair("a", "AH0"), Pair("a", "EY1"), Pair("b", "B IY1"), *(Pair(f"c{n}", "S IY1") for n in range(20))]


def task(own: OwnFiles | None, *, validation: int = 3, test: int = 5) -> Pronounce:
    return Pronounce(own, stress=False, validation=validation, test=test, seed=1)


def words(pairs: object) -> set[str]:
    return {pair.source for pair in pairs}  # type: ignore[attr-defined]


def test_no_word_is_in_two_parts_whatever_it_sounds_like(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("".join(f"{word}  {phonemes}\n" for word, phonemes in (pair.sides for pair in WORDS)))
    for seed in range(20):
        asked = Pronounce(OwnFiles([DictionaryFile(path)], [], []), False, 3, 5, seed)
        found = asked.examples()
        train = list(found.train())
        assert (len(found.validation), len(found.test), len(train)) == (3, 5, 15)
        assert not words(train) & (words(found.validation) | words(found.test))
        assert not words(found.validation) & words(found.test)


def test_a_word_is_asked_once_and_all_its_pronunciations_are_right(tmp_path: Path) -> None:
    for name in ("train", "dev", "test"):
        (tmp_path / name).write_text("x  EH1\n" if name == "train" else "a  AH0\nb  B IY1\na  EY1\na  AH1\n")
    files = [[DictionaryFile(tmp_path / name)] for name in ("train", "dev", "test")]
    found = task(OwnFiles(*files)).examples()
    assert [(case.source, case.targets) for case in found.cases(found.test)] == [
        ("a", ("AH", "EY")),
        ("b", ("B IY",)),
    ]


def test_without_files_the_package_gives_words_that_are_always_split_alike() -> None:
    found = task(None, validation=500, test=1000).examples()
    again = task(None, validation=500, test=1000).examples()
    assert (found.validation, found.test) == (again.validation, again.test)
    assert len(list(found.train())) > 120_000
    assert found.note is not None
    assert str(CmudictPackage()) in found.note
    assert not any(character.isdigit() for pair in found.test for character in pair.target)


@pytest.mark.parametrize("recipe", ["pronounce", "pronounce-published"])
def test_the_two_recipes_differ_in_their_data_alone(recipe: str) -> None:
    plain = load_config("pronounce").model_dump(exclude={"data"})
    assert load_config(recipe).model_dump(exclude={"data"}) == plain
