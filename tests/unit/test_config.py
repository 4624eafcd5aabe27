import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from regard.attention import ALIASES, SCORES
from regard.build import TASKS
from regard.config import PRESETS, Config, difference, load_config, loading, parse_config, recipes
from regard.config.fields import Settings, left_out
from regard.config.model import (
    Attention,
    RecurrentDecoder,
    RecurrentEncoder,
    StreamDecoder,
    TransformerDecoder,
    TransformerEncoder,
)
from regard.core.errors import UserError
from regard.text.normalization import NORMALIZATIONS


def fails(tmp_path: Path, text: str, *changes: str) -> str:
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_config(path, changes)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("name", recipes())
def test_every_recipe_is_valid_and_says_in_its_first_line_what_it_does(name: str) -> None:
    load_config(name)
    assert recipes()[name].read_text().startswith("# ")


def test_a_whole_configuration_written_and_read_again_is_the_same(tmp_path: Path) -> None:
    config = load_config("dates", ["training.patience=3", "data.train='pairs.tsv'"])
    path = tmp_path / "again.toml"
    path.write_text(config.to_toml(), encoding="utf-8")
    assert load_config(path) == config


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


def test_an_unknown_setting_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    sentence = fails(tmp_path, "[model.attention]\nscor = 'dot'\n")
    assert "my.toml" in sentence
    assert "unknown setting 'model.attention.scor'" in sentence
    assert "Did you mean 'model.attention.score'?" in sentence


def test_an_unknown_section_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    assert "Did you mean 'training'?" in fails(tmp_path, "[trainin]\nsteps = 1\n")


def test_an_unknown_setting_on_the_command_line_says_so(tmp_path: Path) -> None:
    sentence = fails(tmp_path, "", "training.stesp=3")
    assert sentence.startswith("--set: unknown setting 'training.stesp'")
    assert "Did you mean 'training.steps'?" in sentence


def test_an_unknown_member_is_refused_with_all_of_them_and_the_nearest(tmp_path: Path) -> None:
    sentence = fails(tmp_path, "[model.attention]\nscore = 'aditive'\n")
    assert "model.attention.score" in sentence
    assert "Did you mean 'additive'?" in sentence
    for name in SCORES:
        assert name in sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[training]\nsteps = 0\n", ["training.steps", "greater than or equal to 1", "0"]),
        ("[training]\nsteps = 'many'\n", ["training.steps", "integer", "many"]),
        ("[training]\nmetric = 'blue'\n", ["training", "Did you mean 'bleu'?"]),
        ("training = 3\n", ["training", "3"]),
        ("[data.train]\nsource = 'a.en'\n", ["data.train.target"]),
        ("[model]\nattention.score = 'dot'\nencoder.width = 512\n", ["dot", "decoder.width is 256", "512"]),
        ("[model]\nattention.score = 'rbf'\nencoder.width = 512\n", ["rbf", "the general score"]),
        ("[model.attention]\nscope = 'causal'\n", ["causal", "looks at itself"]),
        ("[model.attention]\nscope = 'window'\n", ["window", "looks at itself"]),
        ("[model.attention]\nscore = 'none'\nheads = 2\n", ["without attention", "nothing for heads"]),
        ("[model.attention]\nscore = 'none'\nselection = 'hard'\n", ["without attention"]),
        ("[model.attention]\nscore = 'location'\nlongest = 50\n", ["longest is 50", "201 positions"]),
        ("[model]\nattention.selection = 'hard'\n[training]\nfeeding = 'scheduled'\n", ["hard", "teacher"]),
        ("[model]\nattention.selection = 'hard'\n[training]\nfeeding = 'free'\n", ["hard", "two_pass"]),
        ("[training]\naverage = 5\nkeep = 4\n", ["keep is 4", "average is 5", "Set training.keep to 5"]),
        ("[training]\naverage = 3\n", ["keep is 2", "average is 3"]),
        ("[training]\nema = 1.0\n", ["training.ema", "less than 1"]),
        ("[training]\nstep_tokens = 900\naccumulate = 2\n", ["accumulate", "step_tokens", "only one"]),
        ("[model.encoder]\nwidth = 255\n", ["255", "even width"]),
        ("[model]\ndecoder.bridge = 'last'\nencoder.layers = 2\n", ["last bridge", "projection bridge"]),
        ("[model.attention]\nheads = 3\n", ["heads = 3", "256"]),
        ("[task]\nname = 'translation'\n", ["data.train is missing", "data.train = 'pairs.tsv'"]),
        ("[data]\nsplit_by = 'target'\n", ["data.split_by", "translation", "dates"]),
        ("[data]\nsplit_by = 'both'\n", ["data.split_by", "either"]),
        ("[data]\ncolumns = [0, 1]\n", ["data.columns"]),
        ("[task]\nname = 'pronounce'\n[data]\ncolumns = [2, 1]\n", ["data.columns", "dictionary"]),
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
        ("[model.encoder]\nkind = 'convolutional'\nkernel = 4\n", ["encoder.kernel is 4", "odd"]),
        ("[model.encoder]\nkind = 'convolutional'\nkernl = 3\n", ["Did you mean 'model.encoder.kernel'?"]),
        (
            "[model.encoder]\nkind = 'convolutional'\npositions = 'rotary'\n",
            ["'rotary'", "learned, sinusoidal"],
        ),
        (
            "[model]\nencoder.kind = 'convolutional'\nattention.score = 'dot'\n",
            ["decoder.width is 256 and embedding is 128", "the general score"],
        ),
        (
            "[model]\ndecoder.kind = 'convolutional'\nattention.score = 'dot'\n",
            ["embedding is 128 and encoder.width is 256", "the general score"],
        ),
        (
            "[model]\ndecoder.kind = 'convolutional'\nattention.heads = 3\n",
            ["heads = 3", "embedding (128) and encoder.width (256)"],
        ),
        (
            "[model]\ndecoder.kind = 'convolutional'\nattention.score = 'none'\n",
            ["convolutional decoder", "another score"],
        ),
        (
            "[text]\nshared = true\n[model]\ntie = 'all'\nencoder.kind = 'transformer'\ndecoder.width = 128\n",
            ["512 wide in the encoder", "128 in the decoder"],
        ),
        ("[model.encoder]\nkind = 'transformer'\nexperts = 2\nexperts_used = 3\n", ["3", "only 2 experts"]),
        ("[model.encoder]\nkind = 'transformer'\nexperts = 1\n", ["experts_used is 2", "only 1 experts"]),
        (
            "[model.encoder]\nkind = 'transformer'\nlook = 'local'\nscope = 'window'\n",
            ["local look", "must be global, not window"],
        ),
        (
            "[model]\npreset = 'transformer_d'\nencoder.look = 'compressed'\n",
            ["compressed look", "must be global, not causal"],
        ),
        (
            "[model]\npreset = 'transformer_dmca'\nencoder.look = 'local'\n",
            ["nothing of its source", "alternating"],
        ),
        (
            "[model]\npreset = 'transformer_dmca'\nencoder.layers = 1\n",
            ["nothing of its source", "two layers"],
        ),
        ("[model.encoder]\nkind = 'transformer'\nlook = 'locally'\n", ["look", "Did you mean 'local'?"]),
        ("[model.encoder]\nkind = 'transformer'\nblock = 0\n", ["model.encoder.block", "0"]),
        ("x = [\n", ["not valid TOML", "end of document"]),
        ("x 3\n", ["not valid TOML", "line 1"]),
    ],
)
def test_a_wrong_value_is_named_with_what_was_found(tmp_path: Path, text: str, words: list[str]) -> None:
    sentence = fails(tmp_path, text)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("change", ["training.steps", "=3", "training..steps=3", ".=3"])
def test_a_change_without_key_and_value_is_refused(tmp_path: Path, change: str) -> None:
    assert "expected key=value" in fails(tmp_path, "", change)


def test_a_change_inside_a_single_setting_is_refused(tmp_path: Path) -> None:
    assert "nothing inside" in fails(tmp_path, "[training]\nsteps = 1\n", "training.steps.more=3")


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
def test_a_hostile_setting_is_refused_in_a_short_sentence(tmp_path: Path, change: str) -> None:
    sentence = fails(tmp_path, "", change)
    assert sentence.startswith(f"--set: {change.partition('=')[0]}")
    assert len(sentence) < 300


def test_hostile_toml_is_refused(tmp_path: Path) -> None:
    assert "not valid TOML" in fails(tmp_path, f"x = {'9' * 5000}\n")
    assert "not valid TOML" in fails(tmp_path, f"x = {'[' * 5000}\n")


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:0", "cuda:15"])
def test_devices_to_train_on_are_accepted(device: str) -> None:
    assert load_config("dates", [f"training.device={device}"]).training.device == device


def test_hard_draws_can_be_learned_from_in_two_passes() -> None:
    changes = ["model.attention.selection=hard", "training.feeding=two_pass"]
    assert load_config("dates", changes).training.feeding == "two_pass"


def test_as_many_as_are_kept_can_be_averaged_and_one_batch_counted_by_pieces() -> None:
    training = load_config("dates", ["training.average=2", "training.step_tokens=900"]).training
    assert (training.average, training.keep, training.step_tokens) == (2, 2, 900)
    assert load_config("dates").training.step_tokens is None


def test_no_clipping_can_be_asked_for() -> None:
    assert load_config("dates", ["training.clip=0"]).training.clip == 0


def test_a_folder_named_like_a_recipe_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dates").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_config("dates") == Config.model_validate(
        tomllib.loads(recipes()["dates"].read_text(encoding="utf-8"))
    )


def test_default_locales_are_those_of_the_task() -> None:
    from regard.tasks.date_formats import DEFAULT_LOCALES  # config.py can't: Babel is slow to import

    assert tuple(Config().task.locales) == DEFAULT_LOCALES


@pytest.mark.parametrize("changes", [[], ["model.preset=gnmt"]])
def test_a_configuration_as_a_model_folder_keeps_it_is_read_back_the_same(changes: list[str]) -> None:
    config = load_config("dates", changes)
    assert parse_config(config.model_dump(mode="json"), origin="config.json") == config


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_fits_is_described_and_stays_changeable(name: str) -> None:
    assert PRESETS[name].__doc__
    config = load_config("dates", [f"model.preset={name}", "model.dropout=0.4"])
    assert config.model.preset == name
    assert config.model.dropout == 0.4
    whole = PRESETS[name]().model_dump()
    assert config.model.model_dump() == {**whole, "preset": name, "dropout": 0.4}


def test_a_preset_of_a_file_is_laid_under_the_files_settings(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[model]\npreset = 'bahdanau2015'\nencoder.width = 64\ndecoder.width = 32\n")
    model = load_config(path).model
    assert (model.encoder.width, model.decoder.width, model.embedding) == (64, 32, 620)
    assert model.decoder.features == 500
    again = tmp_path / "again.toml"
    again.write_text(load_config(path).to_toml())
    assert load_config(again) == load_config(path)


@pytest.mark.parametrize(
    ("preset", "changes", "expected"),
    [
        ("bahdanau2015", ["encoder.kind=transformer"], {"encoder": TransformerEncoder()}),
        (
            "convs2s",
            ["encoder.layers=2", "encoder.kind=transformer", "encoder.heads=4"],
            {"encoder": TransformerEncoder(layers=2, heads=4)},
        ),
        (
            "transformer_tiny",
            ["tie=none", "decoder.kind=step_then_look", "decoder.cell=lstm"],
            {"attention": Attention(), "decoder": RecurrentDecoder(kind="step_then_look", cell="lstm")},
        ),
        (
            "gnmt",
            ["decoder.kind=transformer", "attention.score=dot"],
            {"attention": Attention(score="dot"), "decoder": TransformerDecoder()},
        ),
        ("transformer_base", ["decoder.kind=stream"], {"attention": Attention(), "decoder": StreamDecoder()}),
    ],
)
def test_another_kind_of_part_starts_from_its_own_defaults(
    preset: str, changes: list[str], expected: dict[str, Settings]
) -> None:
    given = PRESETS[preset]()
    found = load_config("dates", [f"model.preset={preset}", *(f"model.{change}" for change in changes)]).model
    for part in ("encoder", "attention", "decoder"):
        assert getattr(found, part) == expected.get(part, getattr(given, part))


def test_a_kind_with_the_same_settings_keeps_them() -> None:
    found = load_config("dates", ["model.preset=luong2015", "model.decoder.kind=step_then_look"]).model
    given = PRESETS["luong2015"]()
    assert found.decoder == given.decoder.model_copy(update={"kind": "step_then_look"})
    assert (found.encoder, found.attention) == (given.encoder, given.attention)


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("[model.encoder]\ncell = 'lstm'\n", ["kind=transformer", "width=64"], TransformerEncoder(width=64)),
        (
            "[model]\npreset = 'transformer_tiny'\nencoder.heads = 2\n",
            ["kind=recurrent"],
            RecurrentEncoder(),
        ),
        (
            "[model]\npreset = 'transformer_tiny'\nencoder = {kind = 'recurrent', cell = 'lstm'}\n",
            [],
            RecurrentEncoder(cell="lstm"),
        ),
        (
            "[model]\npreset = 'transformer_tiny'\nencoder = {kind = 'recurrent', cell = 'lstm'}\n",
            ["kind=recurrent", "width=64"],
            RecurrentEncoder(cell="lstm", width=64),
        ),
    ],
)
def test_another_kind_of_part_over_a_file_starts_afresh_too(
    text: str, changes: list[str], expected: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "my.toml"
    path.write_text(text)
    assert load_config(path, [f"model.encoder.{change}" for change in changes]).model.encoder == expected


def test_a_kind_that_is_not_there_is_refused_with_the_nearest_over_a_preset_too(tmp_path: Path) -> None:
    sentence = fails(tmp_path, "[model]\npreset = 'gnmt'\n", "model.encoder.kind=transfomer")
    assert "Did you mean 'transformer'?" in sentence


def test_an_unknown_preset_is_refused_with_the_nearest(tmp_path: Path) -> None:
    assert "Did you mean 'luong2015'?" in fails(tmp_path, "[model]\npreset = 'loung2015'\n")


@pytest.mark.parametrize(("alias", "formula"), ALIASES.items())
def test_the_name_of_a_paper_stands_for_its_formula(alias: str, formula: str) -> None:
    assert load_config("dates", [f"model.attention.score={alias}"]).model.attention.score == formula


TRANSLATION = "[task]\nname = 'translation'\n[data]\ntrain = 'pairs.tsv'\n"


def test_every_task_of_the_configuration_can_be_built() -> None:
    schema = Config.model_json_schema()["properties"]["task"]
    assert set(schema["discriminator"]["mapping"]) == set(TASKS)


def test_a_section_without_the_name_of_a_task_is_about_dates() -> None:
    assert parse_config({}, origin="x").task.name == "dates"
    assert parse_config({"task": {"pairs": 7}}, origin="x").task.pairs == 7  # type: ignore[union-attr]


def test_an_unknown_task_is_refused_with_the_nearest(tmp_path: Path) -> None:
    sentence = fails(tmp_path, "[task]\nname = 'translaton'\n")
    assert sentence.endswith(
        "my.toml: task.name: 'translaton' is not one of dates, translation, pronounce, multilingual, summarise. "
        "Did you mean 'translation'?"
    )
    assert fails(tmp_path, "", "task.name=translaton").startswith("--set: task.name: 'translaton'")


def test_an_unknown_setting_of_a_task_is_refused_with_the_nearest_of_that_task(tmp_path: Path) -> None:
    sentence = fails(tmp_path, TRANSLATION, "task.target_langage=de")
    assert sentence == (
        "--set: unknown setting 'task.target_langage' where task.name is 'translation'. "
        "Did you mean 'task.target_language'?"
    )
    sentence = fails(tmp_path, TRANSLATION, "task.locales=['en']")
    assert "unknown setting 'task.locales' where task.name is 'translation'" in sentence
    assert "Known: name, source_language, target_language." in sentence
    assert "Did you mean 'task.name'?" in fails(tmp_path, "[task]\nnmae = 'dates'\n")


def test_a_wrong_value_inside_a_task_is_named_without_pydantics_words(tmp_path: Path) -> None:
    assert "my.toml: task.locales.0: Input" in fails(tmp_path, "[task]\nlocales = [3]\n")
    assert "my.toml: task: Input" in fails(tmp_path, "task = 3\n")


@pytest.mark.parametrize("code", ["german", "DE", "d", "", "de|x", "de:x", "de\\n", "de" + "-latn" * 9])
def test_what_is_no_code_of_a_language_is_refused(tmp_path: Path, code: str) -> None:
    sentence = fails(tmp_path, TRANSLATION, f'task.source_language="{code}"')
    assert sentence.startswith("--set: task.source_language: ")
    assert "Write it like en, de or pt-BR." in sentence


@pytest.mark.parametrize("code", ["en", "deu", "pt-BR", "zh-Hans-CN"])
def test_codes_of_languages_are_accepted(tmp_path: Path, code: str) -> None:
    (tmp_path / "my.toml").write_text(TRANSLATION)
    task = load_config(tmp_path / "my.toml", [f"task.target_language={code}"]).task
    assert task.target_language == code  # type: ignore[union-attr]


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, sentence: str
) -> None:
    monkeypatch.setattr(loading, "Config", MadeUp)
    assert sentence in fails(tmp_path, f"[whole]\n{text}\n")


def test_a_name_with_the_variable_of_data_is_kept_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", "/somewhere")
    config = load_config("multi30k-en-de")
    assert 'source = "$REGARD_DATA/multi30k/train.en"' in config.to_toml()
    assert "/somewhere" not in config.to_toml()


def test_every_encoder_and_decoder_can_be_chosen() -> None:
    from typing import get_args

    from regard.config.parts import Decoder, Encoder
    from regard.decoders import DECODERS
    from regard.encoders import ENCODERS

    for union, registry in ((Encoder, ENCODERS), (Decoder, DECODERS)):
        members = get_args(get_args(union)[0])
        kinds = [kind for member in members for kind in get_args(member.model_fields["kind"].annotation)]
        assert sorted(kinds) == sorted(registry)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("model.encoder.kind=transfomer", "'transfomer' is not one of recurrent, transformer"),
        (
            "model.encoder.headz=4",
            "unknown setting 'model.encoder.headz' where model.encoder.kind is 'transformer'",
        ),
        ("model.encoder.heads=3", "encoder.heads = 3 must divide encoder.width (128)"),
        ("model.encoder.score=location", "does not see what it looks at"),
        ("model.attention.score=none", "knows its source by looking at it"),
        ("model.attention.selection=hard", "it is for recurrent decoders"),
        ("model.encoder.position_width=128", "must be smaller than encoder.width"),
        ("model.decoder.positions=rotary", "turn pairs of numbers"),
    ],
)
def test_a_transformer_that_makes_no_sense_is_refused_with_the_reason(change: str, sentence: str) -> None:
    heads = ["model.decoder.heads=128"] if "rotary" in change else []
    with pytest.raises(UserError) as caught:
        load_config("dates", ["model.preset=transformer_tiny", *heads, change])
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("corpus", "sentence"),
    [
        ("train = 'a.tsv'\nmark = 'en'", "the mark 'en' is a language here"),
        ("train = 'a.tsv'\nmark = 'Back!'", "'Back!' is no mark"),
        ("both = false", "a corpus needs files"),
        ("train = 'a.tsv'\ntarget_language = 'en'", "both en"),
        ("train = 'a.tsv'\nweight = 0", "greater than 0"),
    ],
)
def test_a_corpus_that_makes_no_sense_is_refused_with_the_reason(
    tmp_path: Path, corpus: str, sentence: str
) -> None:
    target = "" if "target_language" in corpus else "target_language = 'de'\n"
    text = f"[task]\nname = 'multilingual'\n[[task.corpora]]\nsource_language = 'en'\n{target}{corpus}\n"
    assert sentence in fails(tmp_path, text)


def test_a_model_of_several_languages_has_its_files_in_its_corpora(tmp_path: Path) -> None:
    corpus = "[[task.corpora]]\nsource_language = 'en'\ntarget_language = 'de'\ntrain = 'a.tsv'\n"
    text = f"[task]\nname = 'multilingual'\n{corpus}[data]\ntrain = 'b.tsv'\n"
    assert "data.train is not for the task multilingual" in fails(tmp_path, text)
