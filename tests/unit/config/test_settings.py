from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from regard.attention import ALIASES, SCORES
from regard.config import Config, load_config
from regard.config.parts import PictureEncoder
from regard.text.normalization import NORMALIZATIONS

Fails = Callable[..., str]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[model.attention]\nscore = 'location'\nlongest = 50\n", ["longest is 50", "201 positions"]),
        ("[model]\nattention.selection = 'hard'\n[training]\nfeeding = 'scheduled'\n", ["hard", "teacher"]),
        ("[model]\nattention.selection = 'hard'\n[training]\nfeeding = 'free'\n", ["hard", "two_pass"]),
        (
            "[task]\nname = 'captions'\n[model]\npreset = 'xu2015_soft'\n[data.filter]\nmax_word = 40\n",
            ["data.filter.max_word", "pictures"],
        ),
        (
            "[task]\nname = 'captions'\n[model]\npreset = 'xu2015_soft'\n[text.target]\nkind = 'bpe'\ndropout = 0.1\n",
            ["text.target.dropout", "pictures"],
        ),
        ("[task]\nname = 'translation'\n", ["data.train is missing", "data.train = 'pairs.tsv'"]),
        ("[task]\nname = 'captions'\n[data]\ntrain = 'a.tsv'\n", ["data.train", "task.folder"]),
        (
            "[task]\nname = 'forecast'\nscene = 'eth'\n[data]\ntrain = 'a.csv'\n",
            ["task.scene is eth", "data.train"],
        ),
        ("[task]\nname = 'forecast'\n[data]\ntest = 'a.csv'\n", ["data.test", "without data.train"]),
        ("[task]\nname = 'forecast'\n[data]\non_bad_line = 'skip'\n", ["data.on_bad_line", "forecast"]),
        ("[task]\nname = 'forecast'\n[data]\nfilter.empty = true\n", ["data.filter", "forecast"]),
        ("[task]\nname = 'forecast'\n[data]\nlong_source = 'first'\n", ["data.long_source", "last points"]),
        (
            "[task]\nname = 'forecast'\nscene = 'eth'\nobserved = 300\n",
            ["task.observed is 300", "data.max_source lets 200"],
        ),
        ("[evaluation]\nmetrics = ['ade']\n", ["ade is about points", "answers of the task dates are texts"]),
        ("[training]\nmetric = 'fde'\n", ["training.metric: fde is about points"]),
        (
            "[model]\nattention.score = 'none'\n[training]\ndoubly_stochastic = 1\n",
            ["training.doubly_stochastic", "score none"],
        ),
        (
            "[model]\nattention.score = 'none'\n[search]\ncoverage = 0.2\n",
            ["search.coverage", "score none"],
        ),
        (
            "[task]\nname = 'captions'\n[text]\nshared = true\n[model]\nattention.pointer = true\n",
            ["model.attention.pointer", "captions are pictures"],
        ),
        (
            "[task]\nname = 'captions'\n[model]\nattention.pointer = true\n",
            ["captions are pictures", "Leave it out"],
        ),
        (
            "[task]\nname = 'captions'\n[text]\nshared = true\n[model]\ntie = 'all'\ndecoder.features = 128\n",
            ["model.tie", "captions are pictures", "output"],
        ),
        (
            "[task]\nname = 'captions'\n[model]\nencoder.kind = 'transformer'\n",
            ["transformer encoder reads no pictures"],
        ),
        (
            "[task]\nname = 'captions'\n[model]\npreset = 'bahdanau2015'\n",
            ["recurrent encoder reads no pictures"],
        ),
        ("[data]\nsplit_by = 'target'\n", ["data.split_by", "translation", "dates"]),
        ("[task]\nname = 'pronounce'\n[data]\ncolumns = [2, 1]\n", ["data.columns", "dictionary"]),
        (
            "[text]\nshared = true\n[model]\ntie = 'all'\nencoder.kind = 'transformer'\ndecoder.width = 128\n",
            ["512 wide in the encoder", "128 in the decoder"],
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_was_found(fails: Fails, text: str, words: list[str]) -> None:
    sentence = fails(text)
    for word in words:
        assert word in sentence


def test_one_setting_of_a_section_leaves_what_else_is_usual_there_for_the_task(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[task]\nname = 'captions'\n[model.encoder]\nwidth = 256\n", encoding="utf-8")
    encoder = load_config(path).model.encoder
    assert (encoder.kind, encoder.width) == ("picture", 256)


def test_a_preset_for_pictures_keeps_its_own_encoder() -> None:
    encoder = load_config("shapes", ["model.preset=xu2015_soft"]).model.encoder
    assert isinstance(encoder, PictureEncoder)
    assert encoder.backbone == "efficientnet_lite0"


@pytest.mark.parametrize("mark", [None, "made"])
def test_as_many_tags_as_can_stand_before_a_source_are_counted(mark: str | None) -> None:
    corpus = {"source_language": "en", "target_language": "de", "train": "a.tsv"}
    marked = {**corpus, "mark": mark} if mark else corpus
    config = Config.model_validate({"task": {"name": "multilingual", "corpora": [corpus, marked]}})
    assert config.tags == (2 if mark else 1)
    assert config.longest == 1 + max(config.tags + config.data.max_source, config.search.max_length)
    assert Config().tags == 0


def test_hard_draws_can_be_learned_from_in_two_passes() -> None:
    changes = ["model.attention.selection=hard", "training.feeding=two_pass"]
    assert load_config("dates", changes).training.feeding == "two_pass"


def test_every_setting_is_in_the_schema() -> None:
    schema = Config.model_json_schema()
    assert schema["$defs"]["Attention"]["properties"]["score"]["enum"] == [*SCORES, "none", *ALIASES]
    assert schema["$defs"]["Pieces"]["properties"]["normalization"]["enum"] == list(NORMALIZATIONS)


def numbers(part: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every number in a schema, inside tuples and optional settings too."""
    if part.get("type") in ("integer", "number"):
        yield name, part
    for inner in [*part.get("anyOf", []), *part.get("prefixItems", [])]:
        yield from numbers(inner, name)


def test_every_number_has_bounds_on_both_sides() -> None:
    found = [
        number
        for section, described in Config.model_json_schema()["$defs"].items()
        for setting, part in described["properties"].items()
        for number in numbers(part, f"{section}.{setting}")
    ]
    assert len(found) > 35
    for name, number in found:
        assert number.keys() & {"minimum", "exclusiveMinimum"}, name
        assert number.keys() & {"maximum", "exclusiveMaximum"}, name


@pytest.mark.parametrize(
    "change",
    [
        "search.max_ratio=inf",
        "search.max_ratio=1e300",
        "search.length_penalty=nan",
        "search.max_length=9223372036854775808",
        "search.beam=1001",
        "training.learning_rate=nan",
        "training.learning_rate=inf",
        "training.betas=[1.0, 0.9]",
        "training.betas=[0.9, -0.1]",
        "training.betas=[nan, 0.9]",
        "training.seed=18446744073709551616",
        "training.steps=1e300",
        f"training.steps={'9' * 5000}",
        f"training.steps=0x{'f' * 5000}",
        f"training.steps={'[' * 5000}",
        "training.clip=-1",
        "training.clip=nan",
        "training.device=gpu7",
        "training.device=mps",
        "training.device=meta",
        "training.device=cuda:",
        "training.device=cuda:-1",
        "training.device=cuda:999999999999",
        "training.device='cpu\\n'",
        "training.device=cuda:\u0661",
        "model.decoder.width=1000000000000",
        "model.encoder.layers=100000",
        "text.source.vocabulary=99999999999",
        "text.source.normalization=nfd",
        "text.source.dropout=1",
        "task.years=[0, 99999]",
        "task.name=3",
        "task.name=[]",
        f"task.name={'x' * 5000}",
    ],
    ids=lambda change: change[:40],
)
def test_a_hostile_setting_is_refused_in_a_short_sentence(fails: Fails, change: str) -> None:
    sentence = fails("", change)
    assert sentence.startswith(f"--set: {change.partition('=')[0]}")
    assert len(sentence) < 300
