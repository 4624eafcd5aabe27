"""`--to`, as a person types it."""

import json
from pathlib import Path

import pytest
from commands import TINY, regard, sentence

TASK = """
[task]
name = "multilingual"
[[task.corpora]]
source_language = "en"
target_language = "de"
train = "pairs.tsv"
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    (folder / "pairs.tsv").write_text("".join(f"day {n}\tTag {n}\n" for n in range(80)))
    (folder / "many.toml").write_text(TASK + TINY[TINY.index("[data]") :])
    changes = [
        "--set",
        "training.steps=8",
        "--set",
        "evaluation.metrics=['chrf']",
        "--set",
        "evaluation.at_end=false",
    ]
    regard("train", "many.toml", *changes, folder=folder)
    return folder


def test_with_a_vocabulary_for_each_language_every_answer_keeps_to_its_own(home: Path) -> None:
    changes = ["training.steps=2", "evaluation.metrics=['chrf']", "text.by_language=true"]
    regard(
        "train",
        "many.toml",
        "--run",
        "runs/apart",
        *(word for change in changes for word in ("--set", change)),
        folder=home,
    )
    assert {path.name for path in (home / "runs/apart/model").glob("*tokenizer.json")} == {
        "source.tokenizer.json",
        "target.de.tokenizer.json",
        "target.en.tokenizer.json",
    }
    letters = {"de": set("Tag 0123456789"), "en": set("day 0123456789")}
    for language, known in letters.items():
        for beam in ("1", "3"):
            done = regard(
                "predict",
                "runs/apart",
                "--to",
                language,
                "--beam",
                beam,
                folder=home,
                stdin=b"day 3\nTag 4\n?\n",
            )
            assert done.stdout.count(b"\n") == 3
            assert set(done.stdout.decode()) - {"\n"} <= known
    scored = regard("score", "runs/apart", "--to", "de", folder=home, stdin=b"day 3\tTag 3\n")
    assert scored.stdout.count(b"\n") == 1


def test_an_answer_is_asked_for_in_a_language(home: Path) -> None:
    done = regard("predict", "runs/many", "--to", "de", folder=home, stdin=b"day 3\n\nday 4\n")
    assert done.stdout.count(b"\n") == 3
    objects = [{"source": "day 3", "to": "en"}, {"source": "day 3"}, {"source": "day 3", "to": "xx"}]
    given = "".join(json.dumps(one) + "\n" for one in objects).encode()
    done = regard("predict", "runs/many", "--input", "json", folder=home, stdin=given)
    assert done.stdout.count(b"\n") == 3
    assert b"line 2 has no answer: the model answers in de, en" in done.stderr
    assert b"line 3 has no answer: the model does not answer in 'xx'" in done.stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["predict", "runs/many"], "answers in de, en: say which"),
        (["predict", "runs/many", "--to", "xx"], "does not answer in 'xx'"),
        (["score", "runs/many"], "answers in de, en: say which"),
        (["explain", "runs/many", "day 3"], "answers in de, en: say which"),
    ],
)
def test_without_a_language_it_knows_nothing_is_answered(home: Path, command: list[str], said: str) -> None:
    assert said in sentence(regard(*command, folder=home, stdin=b"day 3\tTag 3\n", code=2))


def test_what_it_looked_at_has_the_language_before_the_source(home: Path) -> None:
    shown = regard("explain", "runs/many", "day 3", "--to", "en", "-o", "looks.json", folder=home)
    assert shown.returncode == 0
    assert json.loads((home / "looks.json").read_text())["source_pieces"][0] == "<en>"


def test_every_direction_has_its_scores(home: Path) -> None:
    done = regard("evaluate", "runs/many", folder=home)
    assert b"en-de (20)" in done.stdout
    assert b"de-en (20)" in done.stdout
