"""What goes wrong is said in a sentence or two, with exit code 2, and nothing is lost."""

import json
from pathlib import Path

import pytest
from commands import TINY, regard, sentence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "nothing"], ["'nothing'", "regard recipes"]),
        (["train", "missing.toml"], ["missing.toml", "no such file"]),
        (
            ["train", "tiny.toml", "--set", "training.stesp=1"],
            ["training.stesp", "Did you mean 'training.steps'?"],
        ),
        (["train", "tiny.toml", "--set", "training.device=gpu7"], ["gpu7", "cpu"]),
        (["train", "tiny.toml", "--set", "search.max_ratio=inf"], ["search.max_ratio", "finite"]),
        (["train", "tiny.toml", "--set", "training.seed=99999999999999999999"], ["training.seed"]),
        (["train", "[/x] :smile:"], ["'[/x] :smile:'"]),
        (["train", "\x1b[2J"], ["x1b[2J"]),
        (["explain", "runs/none", "x", "--hide-special", "-o", "x.json"], ["--hide-special", ".json"]),
        (["train", "tiny.toml", "--set", "data.train=missing.tsv"], ["missing.tsv"]),
        (["train", "tiny.toml", "--set", "data.train=bad.tsv"], ["bad.tsv", "line 2", "byte", "UTF-8"]),
        (["train", "tiny.toml", "--set", "data.train=columns.tsv"], ["columns.tsv", "line 1", "tab"]),
        (
            ["train", "tiny.toml", "--set", "data.train={source='three.txt', target='two.txt'}"],
            ["three.txt", "two.txt", "3", "2"],
        ),
        (["train", "tiny.toml", "--set", "data.train=empty.tsv"], ["empty.tsv", "no pair"]),
        (["train", "tiny.toml", "--set", "task.locales=['engl']"], ["engl"]),
        (["train", "tiny.toml", "--run", "tiny.toml"], ["tiny.toml is a file"]),
        (["config", "show", "daets"], ["Did you mean 'dates'?"]),
        (["predict", "runs/none"], ["runs/none", "no such run"]),
        (["predict", "."], ["not a run"]),
        (["evaluate", "runs/none"], ["runs/none"]),
        (["average", "runs/none"], ["runs/none", "no such run"]),
        (["explain", "runs/none", "x"], ["runs/none"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_an_error_is_a_sentence_and_exit_code_2(
    arguments: list[str], words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "bad.tsv").write_bytes(b"good\tline\nb\xe9d\tline\n")
    (tmp_path / "columns.tsv").write_text("no tab here\n")
    (tmp_path / "three.txt").write_text("a\nb\nc\n")
    (tmp_path / "two.txt").write_text("a\nb\n")
    (tmp_path / "empty.tsv").write_text("")
    said = sentence(regard(*arguments, folder=tmp_path, code=2))
    for word in words:
        assert word in said
    assert said.count(". ") <= 2, said


def test_tokenizer_and_weights_that_do_not_belong_together_are_found_out(tiny: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(tiny / "runs/tiny/model", tmp_path / "model")
    shutil.copy(tmp_path / "model/target.tokenizer.json", tmp_path / "model/source.tokenizer.json")
    assert "belongs to another model" in sentence(regard("predict", "model", folder=tmp_path, code=2))


def test_a_tokenizer_of_the_same_size_but_of_another_model_is_found_out(tiny: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(tiny / "runs/tiny/model", tmp_path / "model")
    path = tmp_path / "model/source.tokenizer.json"
    document = json.loads(path.read_text())
    pieces = document["model"]["vocab"]
    first, second = list(pieces)[-2:]
    pieces[first], pieces[second] = pieces[second], pieces[first]
    path.write_text(json.dumps(document))
    assert "belongs to another model" in sentence(regard("predict", "model", folder=tmp_path, code=2))


def test_a_stranger_s_file_beside_the_weights_harms_nothing(tiny: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(tiny / "runs/tiny/model", tmp_path / "model")
    (tmp_path / "model/LICENSE").write_text("Do as you like.")
    regard("predict", "model", folder=tmp_path, stdin=b"1 May 2001\n")


def test_one_changed_bit_of_the_weights_is_found_out(tiny: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(tiny / "runs/tiny/model", tmp_path / "model")
    weights = tmp_path / "model/model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-100] ^= 1
    weights.write_bytes(content)
    assert "have changed since it was written" in sentence(
        regard("predict", "model", folder=tmp_path, code=2)
    )


def test_damaged_weights_are_found_out(tiny: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(tiny / "runs/tiny/model", tmp_path / "model")
    weights = tmp_path / "model/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert "model.safetensors is damaged" in sentence(regard("predict", "model", folder=tmp_path, code=2))


def test_usage_errors_exit_with_2(tmp_path: Path) -> None:
    assert b"No such command" in regard("trian", folder=tmp_path, code=2).stderr
    assert b"Usage" in regard("explain", folder=tmp_path, code=2).stderr


@pytest.mark.parametrize(
    "command",
    ["new", "train", "predict", "evaluate", "explain", "average", "export", "recipes", "doctor", "config"],
)
def test_every_command_has_help_for_people(command: str, tmp_path: Path) -> None:
    text = regard(command, "--help", folder=tmp_path).stdout.decode()
    assert "Usage" in text
    assert len(text.splitlines()) > 5


def test_doctor_recipes_config_and_version_work(tmp_path: Path) -> None:
    assert b"All is well." in regard("doctor", folder=tmp_path).stdout
    assert b"dates" in regard("recipes", folder=tmp_path).stdout
    assert b'score = "additive"' in regard("config", "show", "dates", folder=tmp_path).stdout
    assert b'"title": "Config"' in regard("config", "schema", folder=tmp_path).stdout
    assert regard("--version", folder=tmp_path).stdout.startswith(b"regard 0.")


def test_completion_knows_recipes_and_runs(tiny: Path) -> None:
    import os
    import subprocess

    from commands import command, environment

    for words, expected in (("regard train da", "dates"), ("regard predict ru", "runs/tiny")):
        asked = {"_REGARD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "2"}
        script = "import sys; sys.argv = ['regard']; from regard.cli import main; main()"
        done = subprocess.run(
            [command()[0], "-c", script],
            cwd=tiny,
            env={**environment(), **asked},
            capture_output=True,
            text=True,
        )
        assert expected in done.stdout.split(os.linesep), done
