from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from regard.cli.app import app
from regard.config import load_config
from regard.core.errors import UserError


def run(*words: str | Path) -> Result:
    done = CliRunner().invoke(app, ["new", *map(str, words)])
    if isinstance(done.exception, UserError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, count in (("pairs", 60), ("held", 3)):
        lines = [f"{number} is a number\t{number} ist eine Zahl\n" for number in range(count)]
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
        (tmp_path / f"{name}.en").write_text("".join(line.split("\t")[0] + "\n" for line in lines))
        (tmp_path / f"{name}.de").write_text("".join(line.split("\t")[1] for line in lines))
        fields = '{{"english": "{0} is a number", "german": "{0} ist eine Zahl"}}\n'
        (tmp_path / f"{name}.jsonl").write_text("".join(fields.format(number) for number in range(count)))
    return tmp_path


def test_a_file_is_not_written_over_unless_asked(home: Path) -> None:
    (home / "my.toml").write_text("precious")
    with pytest.raises(UserError, match=r"my\.toml is there already.*--force"):
        run("my.toml", "--train", "pairs.tsv")
    assert (home / "my.toml").read_text() == "precious"
    run("my.toml", "--train", "pairs.tsv", "--force")
    assert load_config("my.toml").data.train == "pairs.tsv"


def test_nothing_is_written_when_pairs_are_bad(home: Path) -> None:
    (home / "pairs.tsv").write_text("no tab\n")
    with pytest.raises(UserError, match=r"pairs\.tsv, line 1"):
        run("my.toml", "--train", "pairs.tsv")
    with pytest.raises(UserError, match=r"ends with \.toml"):
        run("my", "--train", "pairs.tsv")
    assert not list(home.glob("my*"))


def test_pairs_come_in_every_form_and_from_several_files(home: Path) -> None:
    parallel = ["--source", "pairs.en", "--target", "pairs.de", "--source", "held.en", "--target", "held.de"]
    run("two.toml", *parallel, "--validation-source", "held.en", "--validation-target", "held.de")
    config = load_config("two.toml")
    assert config.data.model_dump()["train"] == [
        {"source": f"{name}.en", "target": f"{name}.de"} for name in ("pairs", "held")
    ]
    assert config.task.model_dump()["target_language"] == "de"
    fields = ["--source-field", "english", "--target-field", "german"]
    run("json.toml", "--train", "pairs.jsonl", *fields, "--test", "held.jsonl")
    assert load_config("json.toml").data.target_field == "german"
    with pytest.raises(UserError, match="there are 1 of the first and 0 of the second"):
        run("my.toml", "--source", "pairs.en")


def test_what_was_seen_is_told(home: Path) -> None:
    said = run("my.toml", "--train", "pairs.tsv", "--test", "held.tsv").stdout
    assert "train: 60 pairs, 60 different sources" in said
    assert "test: 3 pairs, 3 different sources" in said
    assert "  3 sources are in train, too" in said
    assert "3 training pairs are left out: validation or test has the same." in said
    # "0 is a number" and "10 is a number": 13 characters ten times, 14 fifty times.
    assert "source: 13.8 characters and 4.0 words on average, 14 and 4 at the most; 100.0% Latin" in said
