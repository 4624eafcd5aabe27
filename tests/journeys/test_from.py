"""A model that is trained further on other pairs."""

import shutil
import tomllib
from pathlib import Path

import pytest
import torch
from commands import TINY, regard, sentence
from safetensors.torch import load_file

import regard as library
from regard.build import config_from
from regard.config import Config, load_config
from regard.core.errors import UserError
from regard.run import Run
from regard.trainer import Trainer
from regard.training import Validated

SOURCES = ["3 May 2018", "1 janvier 1999", "Saturday 09 May 2018", "x", ""]
NEW = """
[data]
train = "new.tsv"
validation_size = 6
test_size = 6
max_source = 60
max_target = 20

[training]
steps = 6
batch_tokens = 512
warmup = 2
log_every = 2
validate_every = 3
save_every = 2
tensorboard = false

[search]
max_length = 14

[evaluation]
metrics = ["exact_match"]
"""


@pytest.fixture
def folder(tiny: Path, tmp_path: Path) -> Path:
    """With new.toml, its pairs, and a run `old` to start from."""
    shutil.copytree(tiny / "runs/tiny", tmp_path / "old")
    (tmp_path / "new.toml").write_text(NEW)
    pairs = [f"{day}.{month}.{year}\t{year}-{month:02}-{day:02}\n" for day in range(1, 29) for month in (5, 6)
             for year in (1999, 2001)]  # fmt: skip
    (tmp_path / "new.tsv").write_text("".join(pairs))
    return tmp_path


def started(folder: Path, *changes: str, run: str = "new") -> Config:
    train = f"data.train={folder / 'new.tsv'}"
    earlier = Run(folder / run).begun()
    return config_from(folder / "new.toml", [train, *changes], folder / "old", earlier=earlier)


def answers(run: Path) -> list[tuple[str, float]]:
    return [(one.text, one.score) for one in library.load(run).predict(SOURCES)]


def trained(config: Config, run: Path, *, steps: int | None = None) -> list[object]:
    """All of it, or so many steps and then stopped."""
    left = iter([None] * steps + ["stopped"] if steps is not None else [])
    return list(Trainer(config, run, stop=lambda: next(left, None)).events())


def test_a_model_is_trained_further_on_other_pairs(folder: Path) -> None:
    done = regard("train", "new.toml", "--from", "old", folder=folder)
    run = folder / "runs/new"
    assert b"validation at step 0: " in done.stderr
    for name in ("source.tokenizer.json", "target.tokenizer.json"):
        assert (run / "model" / name).read_bytes() == (folder / "old/model" / name).read_bytes()
    document = tomllib.loads((run / "config.toml").read_text())
    assert document["origin"]["run"] == "old"
    assert len(document["origin"]["weights"]) == 32
    assert document["model"] == tomllib.loads((folder / "old/config.toml").read_text())["model"]
    assert document["training"]["steps"] == 6
    assert "| began as | the model of old |" in (run / "model/README.md").read_text()
    shutil.rmtree(folder / "old")
    again = regard("train", "new.toml", "--from", "old", folder=folder)
    assert b"all 6 steps are done" in again.stderr


def test_before_its_first_step_it_answers_as_the_model_it_came_from(folder: Path) -> None:
    events = trained(started(folder), folder / "new", steps=0)
    assert [event.step for event in events if isinstance(event, Validated)] == [0]
    assert answers(folder / "new") == answers(folder / "old")


def test_optimizer_and_schedule_start_anew(folder: Path) -> None:
    config = started(folder)
    trained(config, folder / "new", steps=0)
    (state,) = [one.load(0) for one in [Trainer(config, folder / "new").checkpoints]]
    assert state.optimizer == {}
    assert (state.state.step, state.state.tokens, state.state.cursor.epoch) == (0, 0, 0)


def test_it_goes_on_exactly_when_the_model_it_came_from_is_gone(folder: Path) -> None:
    trained(started(folder, run="whole"), folder / "whole")
    trained(started(folder), folder / "new", steps=3)
    shutil.rmtree(folder / "old")
    trained(started(folder), folder / "new")
    files = [max((folder / run).glob("checkpoints/step-*")) / "model.safetensors" for run in ("whole", "new")]
    assert [file.parent.name for file in files] == ["step-000006"] * 2
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("model.encoder.width=9", "new.toml: model.encoder.width is 9, but .*old was trained with 8"),
        ("model.embedding=9", "model.embedding is 9, but .*old was trained with 8"),
        ("model.preset=transformer_tiny", "model.preset is 'transformer_tiny', but"),
        ("model.attention.longest=50", "model.attention.longest is 50, but .*old was trained with None"),
        ("text.source.vocabulary=99", "text.source.vocabulary is 99, but .*old was trained with 100"),
        ("text.shared=true", "text.shared is True, but"),
        ("model.attention.scor=dot", "unknown setting 'model.attention.scor'"),
    ],
)
def test_a_setting_that_contradicts_the_model_is_named(folder: Path, change: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        started(folder, change)


def test_settings_that_say_the_same_or_only_how_texts_are_cut_are_let_through(folder: Path) -> None:
    config = started(folder, "model.encoder.width=8", "text.sample=50")
    assert config.text.sample == 50
    assert config.model == load_config(folder / "old/config.toml").model


def test_what_has_no_weights_may_change_and_the_same_weights_go_on(folder: Path) -> None:
    config = started(folder, "model.dropout=0.5", "model.attention.selection=hard")
    assert (config.model.dropout, config.model.attention.selection) == (0.5, "hard")
    trained(config, folder / "new", steps=0)
    (checkpoint,) = (folder / "new").glob("checkpoints/step-*")
    before, after = (load_file(path / "model.safetensors") for path in (folder / "old/model", checkpoint))
    assert all(torch.equal(after[name], weights) for name, weights in before.items())
    trained(config, folder / "new")  # and it learns by drawing, too


def test_a_run_that_was_begun_from_elsewhere_is_not_mixed_up(folder: Path) -> None:
    trained(started(folder), folder / "new", steps=0)
    shutil.copytree(folder / "old", folder / "other")
    done = regard("train", "new.toml", "--from", "other", "--run", "new", folder=folder, code=2)
    assert "origin.run" in sentence(done)
    done = regard("train", "new.toml", "--run", "old", "--from", "old", folder=folder, code=2)
    assert "can't be trained further in itself" in sentence(done)


def test_other_weights_than_at_the_beginning_are_refused(folder: Path) -> None:
    config = started(folder)
    weights = folder / "old/model/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\1")
    with pytest.raises(UserError, match="has other weights than when this run was begun"):
        trained(config, folder / "new")


def test_a_run_that_is_not_there_is_told(folder: Path) -> None:
    done = regard("train", "new.toml", "--from", "nowhere", folder=folder, code=2)
    assert "nowhere: there is no such run" in sentence(done)


def test_another_task_is_refused(folder: Path) -> None:
    with pytest.raises(UserError, match="was trained for the task dates, not translation"):
        trained(started(folder, "task.name=translation"), folder / "new")


def test_more_positions_than_the_model_knows_are_refused(folder: Path) -> None:
    known = TINY.replace("[training]", '[model.attention]\nscore = "location"\n\n[training]')
    (folder / "known.toml").write_text(known)
    trained(load_config(folder / "known.toml", ["training.steps=1"]), folder / "located")
    config = config_from(
        folder / "new.toml",
        [f"data.train={folder / 'new.tsv'}", "data.max_source=300"],
        folder / "located",
    )
    with pytest.raises(
        UserError, match=r"knows 201 positions, but .* let 301 come up\. Set them as there: 200, "
    ):
        trained(config, folder / "new")


MANY = """
[task]
name = "multilingual"
[[task.corpora]]
source_language = "en"
target_language = "de"
train = "{folder}/ed.tsv"
[[task.corpora]]
source_language = "en"
target_language = "fr"
train = "{folder}/ef.tsv"
both = false
"""
FURTHER = """
[task]
name = "multilingual"
[[task.corpora]]
source_language = "{source}"
target_language = "{target}"
train = "{folder}/xy.tsv"
both = false
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    words = {"en": "day", "de": "Tag", "fr": "jour"}
    for name, (one, other) in {"ed": ("en", "de"), "ef": ("en", "fr"), "xy": ("de", "fr")}.items():
        lines = [f"{words[one]} {number}\t{words[other]} {number}\n" for number in range(60)]
        (folder / f"{name}.tsv").write_text("".join(lines))
    (folder / "many.toml").write_text(MANY.format(folder=folder) + TINY[TINY.index("[data]") :])
    trained(load_config(folder / "many.toml", ["training.steps=1", *CHEAP]), folder / "old")
    return folder


CHEAP = ["evaluation.metrics=['chrf']", "training.samples=1", "data.validation_size=4", "data.test_size=4"]


def further(folder: Path, source: str, target: str, *changes: str) -> Config:
    text = FURTHER.format(folder=folder, source=source, target=target) + NEW[NEW.index("[training]") :]
    (folder / "further.toml").write_text(text)
    return config_from(folder / "further.toml", [*CHEAP, *changes], folder / "old")


def test_a_direction_that_was_never_trained_is_learned_between_known_languages(many: Path) -> None:
    trained(further(many, "de", "fr", "training.steps=1"), many / "new")
    assert (many / "new/model/tags.json").read_bytes() == (many / "old/model/tags.json").read_bytes()
    model = library.load(many / "new")
    assert model.codec.languages == ("de", "en", "fr")
    assert model.predict(library.Request("Tag 3", to="en")).problem is None


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("en", "cs", r"'cs' is none of the languages to answer in that .*old .*\(de, en, fr\)"),
        ("cs", "de", r"'cs' is none of the languages that .*old was trained with \(de, en, fr\)"),
    ],
)
def test_a_language_that_the_model_does_not_know_is_named(
    many: Path, tmp_path: Path, source: str, target: str, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        trained(further(many, source, target), tmp_path / "new")


def test_a_mark_that_the_model_does_not_know_is_named(many: Path, tmp_path: Path) -> None:
    config = further(many, "en", "de")
    corpus = config.task.corpora[0].model_copy(update={"mark": "back"})  # type: ignore[union-attr]
    given = config.task.corpora[0].model_copy(update={"both": True})  # type: ignore[union-attr]
    marked = config.model_copy(update={"task": config.task.model_copy(update={"corpora": [corpus, given]})})
    with pytest.raises(UserError, match=r"'back' is none of the marks that .*old .*\(none\)"):
        trained(marked, tmp_path / "new")
