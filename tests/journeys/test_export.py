"""A run is exported, asked and scored with another engine, as a person does it."""

import json
from pathlib import Path

import pytest
from commands import TINY, regard, sentence

from regard.core.figures import figure

pytest.importorskip("ctranslate2")

MODEL = """
preset = "transformer_tiny"
encoder = {kind = "transformer", width = 16, layers = 1, heads = 2, feed_forward = 32}
decoder = {kind = "transformer", width = 16, layers = 1, heads = 2, feed_forward = 32}
attention = {heads = 2}
tie = "none"
"""
LINES = "3 May 2018\n\n12 août 1999\n".encode()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny Transformer's run, runs/small."""
    folder = tmp_path_factory.mktemp("home")
    before, behind = TINY.split("[model]")[0], TINY.split("[training]")[1]
    (folder / "small.toml").write_text(f"{before}[model]{MODEL}\n[training]{behind}")
    few = ("--set", "training.steps=4", "--set", "training.validate_every=4")
    regard("train", "small.toml", *few, folder=folder)
    return folder


def test_an_exported_model_answers_as_its_run_does(home: Path) -> None:
    expected = regard("predict", "runs/small", folder=home, stdin=LINES).stdout
    assert expected.count(b"\n") == 3
    done = regard("export", "runs/small", "--to", "ctranslate2", folder=home)
    assert b"Wrote" in done.stderr
    assert b"small-ctranslate2" in done.stderr
    assert regard("predict", "runs/small-ctranslate2", folder=home, stdin=LINES).stdout == expected
    engine = ("--engine", "ctranslate2")
    assert regard("predict", "runs/small", *engine, folder=home, stdin=LINES).stdout == expected
    rounded = regard("predict", "runs/small", *engine, "--compute-type", "int8", folder=home, stdin=LINES)
    assert rounded.stdout.count(b"\n") == 3


def test_scores_of_another_engine_are_shown_and_not_saved(home: Path) -> None:
    own = json.loads((home / "runs/small/scores.json").read_text())
    done = regard("evaluate", "runs/small", "--engine", "ctranslate2", folder=home)
    assert figure(own["test"]["character_error_rate"]["value"]).encode() in done.stdout
    assert b"Saved" not in done.stderr
    assert json.loads((home / "runs/small/scores.json").read_text()) == own
    regard("export", "runs/small", "--to", "ctranslate2", "-o", "out", folder=home)
    assert regard("evaluate", "out", folder=home).stdout.splitlines()[1:] == done.stdout.splitlines()[1:]


def test_what_can_not_be_is_said_in_a_sentence(home: Path, tiny: Path) -> None:
    (home / "mine").mkdir(exist_ok=True)
    (home / "mine/thesis.txt").write_text("mine")
    small, run = "runs/small", tiny / "runs/tiny"
    for words, said in (
        (("export", small, "--to", "marian"), "Known: ctranslate2, onnx"),
        (("export", small, "--to", "ctranslate2", "-o", "mine"), "mine is there already"),
        (("export", "runs/none", "--to", "ctranslate2"), "no such run"),
        (("export", run, "--to", "ctranslate2"), "this encoder is recurrent"),
        (("predict", run, "--engine", "ctranslate2"), "this encoder is recurrent"),
        (("predict", small, "--engine", "ctranslate2", "--alignments"), "records no attention"),
        (("evaluate", small, "--engine", "ctranslate2", "--report", "r.html"), "need attention"),
        (("score", "out"), "native engine"),
    ):
        done = regard(*words, folder=home, stdin=b"a\tb\n", code=2)
        assert said in sentence(done), words
