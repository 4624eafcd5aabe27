import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from regard.attention import SCORES
from regard.config import Config, difference, load_config, loading, parse_config, recipes
from regard.config.fields import Settings, left_out
from regard.core.errors import UserError

Fails = Callable[..., str]


@pytest.mark.parametrize("name", recipes())
def test_every_recipe_is_valid_and_says_in_its_first_line_what_it_does(name: str) -> None:
    load_config(name)
    assert recipes()[name].read_text().startswith("# ")


def test_a_folder_named_like_a_recipe_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dates").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_config("dates") == Config.model_validate(
        tomllib.loads(recipes()["dates"].read_text(encoding="utf-8"))
    )


def test_a_recipe_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'dates'"):
        load_config("date")


def test_missing_folder_and_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_config(tmp_path / "missing.toml")
    with pytest.raises(UserError, match="is a folder"):
        load_config(tmp_path)
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"x = '\xff'\n")
    with pytest.raises(UserError, match="byte 5"):
        load_config(bad)


def test_hostile_toml_is_refused(fails: Fails) -> None:
    assert "not valid TOML" in fails(f"x = {'9' * 5000}\n")
    assert "not valid TOML" in fails(f"x = {'[' * 5000}\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("training = 3\n", ["training", "3"]),
        ("x = [\n", ["not valid TOML", "end of document"]),
        ("x 3\n", ["not valid TOML", "line 1"]),
    ],
)
def test_a_wrong_value_is_named_with_what_was_found(fails: Fails, text: str, words: list[str]) -> None:
    sentence = fails(text)
    for word in words:
        assert word in sentence


def test_a_whole_configuration_written_and_read_again_is_the_same(tmp_path: Path) -> None:
    config = load_config("dates", ["training.patience=3", "data.train='pairs.tsv'"])
    path = tmp_path / "again.toml"
    path.write_text(config.to_toml(), encoding="utf-8")
    assert load_config(path) == config


@pytest.mark.parametrize("changes", [[], ["model.preset=gnmt"]])
def test_a_configuration_as_a_model_folder_keeps_it_is_read_back_the_same(changes: list[str]) -> None:
    config = load_config("dates", changes)
    assert parse_config(config.model_dump(mode="json"), origin="config.json") == config


def test_a_name_with_the_variable_of_data_is_kept_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", "/somewhere")
    config = load_config("multi30k-en-de")
    assert 'source = "$REGARD_DATA/multi30k/train.en"' in config.to_toml()
    assert "/somewhere" not in config.to_toml()


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("training.steps=77", 77),
        ("training.steps = 77", 77),
        ("training.learning_rate=1e-4", 1e-4),
        ("training.patience=3", 3),
        ("training.device=cpu", "cpu"),
        ('training.device="cpu"', "cpu"),
        ("training.tensorboard=false", False),
        ("training.betas=[0.5, 0.6]", (0.5, 0.6)),
    ],
)
def test_set_changes_one_setting(change: str, value: object) -> None:
    config = load_config("dates", [change])
    key = change.partition("=")[0].strip().split(".")[1]
    assert getattr(config.training, key) == value
    assert difference(load_config("dates"), config) in (
        [],
        [f"training.{key}: {getattr(load_config('dates').training, key)} -> {value}"],
    )


@pytest.mark.parametrize("change", ["training.steps", "=3", "training..steps=3", ".=3"])
def test_a_change_without_key_and_value_is_refused(fails: Fails, change: str) -> None:
    assert "expected key=value" in fails("", change)


def test_a_change_inside_a_single_setting_is_refused(fails: Fails) -> None:
    assert "nothing inside" in fails("[training]\nsteps = 1\n", "training.steps.more=3")


def test_an_unknown_setting_is_refused_with_the_nearest_name(fails: Fails) -> None:
    sentence = fails("[model.attention]\nscor = 'dot'\n")
    assert "my.toml" in sentence
    assert "unknown setting 'model.attention.scor'" in sentence
    assert "Did you mean 'model.attention.score'?" in sentence


def test_an_unknown_section_is_refused_with_the_nearest_name(fails: Fails) -> None:
    assert "Did you mean 'training'?" in fails("[trainin]\nsteps = 1\n")


def test_an_unknown_setting_on_the_command_line_says_so(fails: Fails) -> None:
    sentence = fails("", "training.stesp=3")
    assert sentence.startswith("--set: unknown setting 'training.stesp'")
    assert "Did you mean 'training.steps'?" in sentence


def test_an_unknown_member_is_refused_with_all_of_them_and_the_nearest(fails: Fails) -> None:
    sentence = fails("[model.attention]\nscore = 'aditive'\n")
    assert "model.attention.score" in sentence
    assert "Did you mean 'additive'?" in sentence
    for name in SCORES:
        assert name in sentence


class Small(Settings):
    kind: Literal["small", "tiny"] = "small"
    width: int = 1


class Large(Settings):
    kind: Literal["large"]
    small: int = 2  # named like the other member


Part = Annotated[Small | Large, Field(discriminator="kind"), left_out("kind", "small")]


class Whole(Settings):
    part: Part = Small()
    parts: list[Small] | None = None


class MadeUp(Settings):
    whole: Whole = Whole()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "part.widht = 1",
            "unknown setting 'whole.part.widht' where whole.part.kind is 'small'. Did you mean",
        ),
        (
            "part = {kind = 'tiny', smal = 1}",
            "unknown setting 'whole.part.smal' where whole.part.kind is 'tiny'. Known: kind, width.",
        ),
        ("part = {kind = 'large', smal = 1}", "'whole.part.smal' where whole.part.kind is 'large'. Did you"),
        (
            "part = {kind = 'large', small = 'x'}",
            "my.toml: whole.part.small: Input should be a valid integer",
        ),
        ("part.kind = 'lage'", "my.toml: whole.part.kind: 'lage' is not one of small, tiny, large. Did you"),
        (
            "parts = [{}, {widht = 1}]",
            "unknown setting 'whole.parts.1.widht'. Did you mean 'whole.parts.1.width'?",
        ),
    ],
)
def test_a_union_anywhere_in_the_configuration_is_spoken_of_in_settings(
    fails: Fails, monkeypatch: pytest.MonkeyPatch, text: str, sentence: str
) -> None:
    monkeypatch.setattr(loading, "Config", MadeUp)
    assert sentence in fails(f"[whole]\n{text}\n")
