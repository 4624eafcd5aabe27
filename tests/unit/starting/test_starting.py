import re
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from toy import sentence

from regard import build
from regard.config import PRESETS, Config, parse_config
from regard.core.errors import UserError
from regard.data import Pair, look
from regard.starting import OWN, TASKS, Start, choosing, start
from regard.starting.choosing import Choice
from regard.starting.sizes import SENTENCES, SPELT, Size, size_for
from regard.starting.writing import Setting, written


def toy(count: int, seed: int = 1) -> list[tuple[str, str]]:
    chance = Random(seed)
    return [sentence(chance) for _ in range(count)]


def started(folder: Path, pairs: list[tuple[str, str]], task: str = "translation", **data: Any) -> Start:
    (folder / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    return start(task, {"train": str(folder / "pairs.tsv"), **data})


def unexplained(text: str) -> list[str]:
    """Settings with a number or a truth value that have no reason above them."""
    lines = text.splitlines()
    return [
        line
        for above, line in zip(["", *lines], lines, strict=False)
        if re.search(r"= .*?(?<![\w.])(\d|true|false)", re.sub(r'"[^"]*"', '""', line))
        and not above.startswith("#")
    ]


@pytest.mark.parametrize(
    "pairs",
    [
        toy(300),
        [
            (f"{day}.{month}.1999", f"1999-{month:02}-{day:02}")
            for day in range(1, 29)
            for month in range(1, 13)
        ],
        [
            (
                f"number {number}, please",
                f"数字{number}をお願いします、はい。今日はとても良い天気ですねと彼は言った",
            )
            for number in range(200)
        ],
        [("a b c", "x y z"), ("b c d", "y z x"), ("c d e", "z x y")],
    ],
    ids=["sentences", "spelt", "other script", "three pairs"],
)
def test_every_number_has_a_reason_and_the_file_fits_its_pairs(
    tmp_path: Path, pairs: list[tuple[str, str]]
) -> None:
    found = started(tmp_path, pairs)
    assert unexplained(found.text) == []
    assert Config.model_validate(tomllib.loads(found.text) | {"model": {}}).data == found.config.data
    examples = build.task(found.config).examples()
    assert len(list(examples.train())) + len(examples.validation) + len(examples.test) == len(set(pairs)), (
        "no filter loses a good pair"
    )
    codec = build.learn_codec(found.config, examples)
    assert max(map(len, codec.encode([pair[0] for pair in pairs]))) <= found.config.data.max_source + 1


def test_a_reason_is_missed_where_there_is_none() -> None:
    text = written({"a": [Setting("one", 1, "Because."), Setting("two", [0.5]), Setting("name", "b2")]})
    assert unexplained(text) == ["two = [0.5]"]


def test_sentences_of_one_script_share_pieces_and_short_answers_are_spelt(tmp_path: Path) -> None:
    words = started(tmp_path, toy(300)).config
    assert (words.text.shared, words.text.source.kind, words.model.preset) == (
        True,
        "bpe",
        "transformer_tiny",
    )
    assert words.evaluation.metrics == ["bleu", "chrf"]
    spelt = started(
        tmp_path, [(f"{year}", f"'{year % 100:02}") for year in range(1900, 2100)], "dates"
    ).config
    assert (spelt.task.name, spelt.text.target.kind, spelt.model.encoder.kind) == (
        "dates",
        "characters",
        "recurrent",
    )
    assert spelt.evaluation.metrics == ["exact_match", "character_error_rate"]
    # 10 digits, an apostrophe, 4 special pieces.
    assert spelt.text.target.vocabulary == 20


def test_targets_without_spaces_are_not_scored_by_words(tmp_path: Path) -> None:
    pairs = [(f"this is number {number}", f"これは{number}番です、" * 5) for number in range(50)]
    config = started(tmp_path, pairs).config
    assert config.evaluation.metrics == ["chrf"]
    assert not config.text.shared
    assert set(config.data.filter.target_scripts) == {"Han", "Hiragana"}


@pytest.mark.parametrize(
    ("pairs", "spelt"),
    [
        ([(f"this is number {number}", f"这是第{number}号房间") for number in range(1000, 1100)], False),
        ([(f"これは{number}番の部屋です", f"这是第{number}号房间") for number in range(1000, 1100)], False),
        ([(f"shui{number}", f"水{number}") for number in range(100)], True),
        ([(f"みず{number}", f"水{number}") for number in range(100)], True),
    ],
)
def test_a_sentence_without_spaces_is_no_word(
    tmp_path: Path, pairs: list[tuple[str, str]], spelt: bool
) -> None:
    assert (started(tmp_path, pairs).config.text.target.kind == "characters") == spelt


def test_pairs_that_stay_are_counted(tmp_path: Path) -> None:
    pairs = toy(300)
    found = started(tmp_path, [*pairs, *((source, source) for source, _ in pairs)])
    assert not found.config.data.filter.identical
    different = len(set(pairs)) + len({source for source, _ in pairs})
    assert f"5 % of about {different:,} pairs" in found.text


def test_parts_are_no_larger_than_can_be_set_apart(tmp_path: Path) -> None:
    # Every source three times: neither 5 for validation nor 5 for the test can be had.
    pairs = [(f"source sentence {number}", f"{way} target {number}") for number in range(34) for way in "abc"]
    data = started(tmp_path, pairs).config.data
    assert (data.validation_size, data.test_size) == (3, 3)


def test_too_few_sources_are_told_to_the_person(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"too few different pairs to set some apart for validation.*--validation"
    ):
        started(tmp_path, [("the same", f"target {number}") for number in range(60)])


def test_what_was_asked_for_is_kept(tmp_path: Path) -> None:
    for name, count in (("a", 40), ("b", 5)):
        for side, end in enumerate(("en", "de")):
            lines = [f"{pair[side]}\n" for pair in toy(count, seed=count)]
            (tmp_path / f"{name}.{end}").write_text("".join(lines))
    files = [{"source": f"{tmp_path}/{name}.en", "target": f"{tmp_path}/{name}.de"} for name in "ab"]
    given = {"train": [files[0]], "test": files[1], "on_bad_line": "skip"}
    found = start("translation", given, (None, "de-CH"))
    assert found.config.data.model_dump(include={*given}) == given
    assert found.config.task.model_dump() == {
        "name": "translation",
        "source_language": "en",
        "target_language": "de-CH",
    }
    assert list(found.surveys) == ["train", "test"]
    assert "test_size" not in found.text


def test_what_is_wrong_is_told_before_anything_is_read() -> None:
    with pytest.raises(UserError, match=r"no task 'translatoin'\. Did you mean 'translation'"):
        start("translatoin", {"train": "nothing.tsv"})
    with pytest.raises(UserError, match="no pairs to look at"):
        start("dates", {})
    with pytest.raises(UserError, match=r"nothing\.tsv: there is no such file"):
        start("dates", {"train": "nothing.tsv"})


@pytest.mark.parametrize(
    ("pairs", "preset", "dropout"),
    [
        (300, "transformer_tiny", 0.3),
        (29_000, "transformer_tiny", 0.3),
        (200_000, "transformer_small", 0.2),
        (4_500_000, "transformer_base", 0.1),
        (10**9, "transformer_base", 0.1),
    ],
)
def test_the_model_goes_with_the_number_of_pairs(pairs: int, preset: str, dropout: float) -> None:
    size = size_for(pairs, SENTENCES)
    assert (size.preset, size.dropout) == (preset, dropout)


def test_sizes_grow_with_the_pairs() -> None:
    for sizes in (SENTENCES, SPELT):
        for smaller, larger in pairwise(sizes):
            assert smaller.pairs < larger.pairs
            assert smaller.dropout >= larger.dropout
            assert smaller.batch_tokens <= larger.batch_tokens
            assert (smaller.vocabulary or 0) <= (larger.vocabulary or 0)
    assert {size.preset for size in SENTENCES} <= set(PRESETS)


@pytest.mark.parametrize("size", SENTENCES, ids=lambda size: f"{size.pairs}")
def test_every_size_makes_a_valid_configuration(size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "SENTENCES", [replace(size, pairs=10**9)])
    seen = look(Pair(*pair) for pair in toy(50))
    choice = Choice("translation", ["name"], {"train": "x.tsv"}, (None, None), seen)
    text = written(choice.sections(choice.sizes()))
    assert unexplained(text) == []
    config = parse_config(tomllib.loads(text), origin="here")
    assert (config.model.preset, config.training.step_tokens) == (size.preset, size.step_tokens)


def test_steps_are_passes_through_the_data() -> None:
    seen = look(Pair(f"word {number} " * 10, f"wort {number} " * 10) for number in range(6000))
    choice = Choice("translation", ["name"], {"train": "x.tsv"}, (None, None), seen)
    sections = {setting.name: setting.value for setting in choice.sections({})["training"]}
    pieces = 1.1 * (choice.cut.longer.mean + 1) * 6000
    assert sections["steps"] == pytest.approx(60 * pieces / 2048, rel=0.05)
    assert sections["validate_every"] == sections["steps"] // 10


def test_odd_names_of_files_come_back_out_of_the_file() -> None:
    odd = 'a "b" \\ \x7f ü 🐶.tsv'
    text = written({"data": [Setting("train", [odd, {"source": odd, "target": "x"}])]})
    assert tomllib.loads(text)["data"]["train"] == [odd, {"source": odd, "target": "x"}]


@pytest.mark.parametrize("task", sorted(set(build.TASKS) - set(TASKS)))
def test_tasks_that_need_more_than_pairs_are_told_to_start_from_a_recipe(task: str) -> None:
    with pytest.raises(UserError, match=f"the task {task} can't be made from pairs alone"):
        start(task, {"train": "pairs.tsv"})


def test_for_summaries_a_part_of_long_sources_is_read_and_words_can_be_copied(tmp_path: Path) -> None:
    chance = Random(1)
    words = [f"w{number}" for number in range(300)]
    pairs = [
        (" ".join(chance.choices(words, k=500)), " ".join(chance.choices(words, k=6))) for _ in range(40)
    ]
    found = started(tmp_path, pairs, "summarise")
    assert unexplained(found.text) == []
    config = found.config
    assert (config.data.max_source, config.data.long_source) == (choosing.LONGEST_READ, "first")
    assert config.model.attention.pointer
    assert config.search.no_repeat == 3
    assert config.training.metric == "rouge_l"
    assert config.data.filter.max_ratio is None
    assert config.evaluation.traits


def test_every_other_task_is_told_where_own_data_goes() -> None:
    assert {*TASKS, *OWN} == set(build.TASKS)
    for task, words in OWN.items():
        with pytest.raises(UserError, match=re.escape(words)):
            start(task, {"train": "x.tsv"})
