from collections.abc import Callable
from pathlib import Path

import pytest

from regard.build import TASKS
from regard.config import Config, load_config, parse_config

Fails = Callable[..., str]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[data.train]\nsource = 'a.en'\n", ["data.train.target"]),
        ("[data]\nsplit_by = 'both'\n", ["data.split_by", "either"]),
        ("[data]\ncolumns = [0, 1]\n", ["data.columns"]),
        ("[text.source]\nkind = 'sentencepiece'\n", ["sentencepiece", "file = 'my.model'"]),
        ("[text.source]\nfile = 'my.model'\n", ["kind bpe", "sentencepiece"]),
        ("[text.source]\nkind = 'sentencepiece'\nfile = 'a'\nlowercase = true\n", ["lowercase to false"]),
        ("[text]\nshared = true\ntarget.lowercase = true\n", ["source.lowercase", "shared"]),
        ("[text.source]\nkind = 'unigram'\ndropout = 0.1\n", ["source.dropout", "bpe", "unigram"]),
        ("[text.source]\nsampling = 0.1\n", ["source.sampling", "unigram", "bpe", "dropout"]),
        ("[text]\nshared = true\ntarget = {kind = 'unigram', sampling = 0.1}\n", ["target.sampling", "bpe"]),
        ("[text.source]\nkind = 'unigram'\nsampling = 0\n", ["text.source.sampling", "greater than 0"]),
        ("[text.target]\nkind = 'words'\ndropout = 0.1\n", ["target.dropout", "bpe", "words"]),
        ("[text]\nshared = true\nsource.kind = 'words'\ntarget.dropout = 0.1\n", ["target.dropout", "words"]),
    ],
)
def test_a_wrong_value_is_named_with_what_was_found(fails: Fails, text: str, words: list[str]) -> None:
    sentence = fails(text)
    for word in words:
        assert word in sentence


TRANSLATION = "[task]\nname = 'translation'\n[data]\ntrain = 'pairs.tsv'\n"


def test_every_task_of_the_configuration_can_be_built() -> None:
    schema = Config.model_json_schema()["properties"]["task"]
    assert set(schema["discriminator"]["mapping"]) == set(TASKS)


def test_a_section_without_the_name_of_a_task_is_about_dates() -> None:
    assert parse_config({}, origin="x").task.name == "dates"
    assert parse_config({"task": {"pairs": 7}}, origin="x").task.pairs == 7  # type: ignore[union-attr]


def test_an_unknown_task_is_refused_with_the_nearest(fails: Fails) -> None:
    sentence = fails("[task]\nname = 'translaton'\n")
    assert sentence.endswith(
        "my.toml: task.name: 'translaton' is not one of dates, translation, pronounce, multilingual, summarise, "
        "captions, forecast. "
        "Did you mean 'translation'?"
    )
    assert fails("", "task.name=translaton").startswith("--set: task.name: 'translaton'")


def test_an_unknown_setting_of_a_task_is_refused_with_the_nearest_of_that_task(fails: Fails) -> None:
    sentence = fails(TRANSLATION, "task.target_langage=de")
    assert sentence == (
        "--set: unknown setting 'task.target_langage' where task.name is 'translation'. "
        "Did you mean 'task.target_language'?"
    )
    sentence = fails(TRANSLATION, "task.locales=['en']")
    assert "unknown setting 'task.locales' where task.name is 'translation'" in sentence
    assert "Known: name, source_language, target_language." in sentence
    assert "Did you mean 'task.name'?" in fails("[task]\nnmae = 'dates'\n")


def test_a_wrong_value_inside_a_task_is_named_without_pydantics_words(fails: Fails) -> None:
    assert "my.toml: task.locales.0: Input" in fails("[task]\nlocales = [3]\n")
    assert "my.toml: task: Input" in fails("task = 3\n")


def test_default_locales_are_those_of_the_task() -> None:
    from regard.tasks.date_formats import DEFAULT_LOCALES  # config.py can't: Babel is slow to import

    assert tuple(Config().task.locales) == DEFAULT_LOCALES


@pytest.mark.parametrize("code", ["german", "DE", "d", "", "de|x", "de:x", "de\\n", "de" + "-latn" * 9])
def test_what_is_no_code_of_a_language_is_refused(fails: Fails, code: str) -> None:
    sentence = fails(TRANSLATION, f'task.source_language="{code}"')
    assert sentence.startswith("--set: task.source_language: ")
    assert "Write it like en, de or pt-BR." in sentence


@pytest.mark.parametrize("code", ["en", "deu", "pt-BR", "zh-Hans-CN"])
def test_codes_of_languages_are_accepted(tmp_path: Path, code: str) -> None:
    (tmp_path / "my.toml").write_text(TRANSLATION)
    task = load_config(tmp_path / "my.toml", [f"task.target_language={code}"]).task
    assert task.target_language == code  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("corpus", "sentence"),
    [
        ("train = 'a.tsv'\nmark = 'en'", "the mark 'en' is a language here"),
        ("train = 'a.tsv'\nmark = 'Back!'", "'Back!' is no mark"),
        ("both = false", "a corpus needs files"),
        ("train = 'a.tsv'\nboth = false\nother_weight = 2", "which this corpus has not"),
        ("train = 'a.tsv'\ntarget_language = 'en'\nother_weight = 2", "which this corpus has not"),
        ("train = 'a.tsv'\nweight = 0", "greater than 0"),
    ],
)
def test_a_corpus_that_makes_no_sense_is_refused_with_the_reason(
    fails: Fails, corpus: str, sentence: str
) -> None:
    target = "" if "target_language" in corpus else "target_language = 'de'\n"
    text = f"[task]\nname = 'multilingual'\n[[task.corpora]]\nsource_language = 'en'\n{target}{corpus}\n"
    assert sentence in fails(text)


def test_a_model_of_several_languages_has_its_files_in_its_corpora(fails: Fails) -> None:
    corpus = "[[task.corpora]]\nsource_language = 'en'\ntarget_language = 'de'\ntrain = 'a.tsv'\n"
    text = f"[task]\nname = 'multilingual'\n{corpus}[data]\ntrain = 'b.tsv'\n"
    assert "data.train is not for the task multilingual" in fails(text)
