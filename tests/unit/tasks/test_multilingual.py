from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.core.errors import UserError
from regard.core.pieces import END
from regard.core.prediction import Request
from regard.data import Filters, Limits, Pair, TsvFile
from regard.search.rules import restrict
from regard.tasks.examples import OwnFiles
from regard.tasks.multilingual import Multilingual, TwoLanguages
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS, LanguageTokenizers
from regard.viewing import TextView


def file(folder: Path, name: str, first: int, last: int, sides: str) -> list[TsvFile]:
    path = folder / name
    rows = "".join(f"{sides[0]}{n}\t{sides[1]}{n}\n" for n in range(first, last))
    path.write_text(rows)
    return [TsvFile(path)]


@pytest.fixture
def task(tmp_path: Path) -> Multilingual:
    german = OwnFiles(
        file(tmp_path, "ed", 0, 40, "ed"),
        file(tmp_path, "edv", 30, 34, "ed"),
        file(tmp_path, "edt", 34, 38, "ed"),
    )
    french = OwnFiles(file(tmp_path, "ef", 0, 60, "ef"), [], [])
    made = OwnFiles(file(tmp_path, "df", 100, 105, "df"), [], [])
    untrained = OwnFiles([], [], file(tmp_path, "dft", 10, 13, "df"))
    corpora = [
        TwoLanguages("en", "de", german),
        TwoLanguages("en", "fr", french, weight=2.0),
        TwoLanguages("de", "fr", made, both=False, mark="back"),
        TwoLanguages("de", "fr", untrained, both=False),
    ]
    return Multilingual(corpora, temperature=2.0, validation=3, test=5, seed=1)


def test_every_corpus_is_used_in_its_directions(task: Multilingual) -> None:
    found = task.examples()
    assert [str(corpus) for corpus in found.corpora] == ["en-de", "de-en", "en-fr", "fr-en", "de-fr (back)"]
    assert found.corpora[-1].name == "de-fr"  # what its direction is scored as
    assert [corpus.weight for corpus in found.corpora] == [1, 1, 2, 2, 1]
    assert found.languages == ("de", "en", "fr")
    assert found.marks == ("back",)
    assert found.temperature == 2.0
    english_german, german_english = (next(iter(corpus.pairs())) for corpus in found.corpora[:2])
    assert english_german == Pair("e0", "d0", ("de",), "en-de")
    assert german_english == Pair("d0", "e0", ("en",), "de-en")
    assert {pair.tags for pair in found.corpora[4].pairs()} == {("fr", "back")}
    assert list(found.train()) == [pair for corpus in found.corpora for pair in corpus.pairs()]


def test_every_direction_is_scored_even_one_that_is_never_trained(task: Multilingual) -> None:
    found = task.examples()
    assert Counter(pair.group for pair in found.test) == {
        "en-de": 4,
        "de-en": 4,
        "en-fr": 5,
        "fr-en": 5,
        "de-fr": 3,
    }
    assert Counter(pair.group for pair in found.validation) == {
        "en-de": 3,
        "de-en": 3,
        "en-fr": 3,
        "fr-en": 3,
    }
    assert {pair.tags for pair in found.test if pair.group == "de-fr"} == {("fr",)}


def test_no_source_of_validation_or_test_is_trained_on_in_any_direction(task: Multilingual) -> None:
    found = task.examples()
    held = {pair.source for pair in (*found.validation, *found.test)}
    trained = {pair.source for pair in found.train()}
    assert not held & trained
    assert "d10" in held  # of the direction that is never trained
    assert "de-en: 3 training pairs are left out: validation or test has the same." in found.reports()


def test_a_language_into_itself_is_trained_and_never_split_off_or_scored(
    task: Multilingual, tmp_path: Path
) -> None:
    own = OwnFiles(file(tmp_path, "dd", 0, 50, "dd"), [], [], Filters(identical=True))
    found = replace(task, corpora=[*task.corpora, TwoLanguages("de", "de", own, weight=0.5)]).examples()
    corpus = found.corpora[-1]
    assert (corpus.name, corpus.weight, corpus.language) == ("de-de", 0.5, "de")
    assert next(iter(corpus.pairs())) == Pair("d0", "d0", ("de",), "de-de")
    assert len(list(corpus.pairs())) == 40  # 50 but for the ten that are sources in validation or test
    assert "de-de" not in {pair.group for pair in (*found.validation, *found.test)}


def test_the_other_direction_can_have_another_weight(task: Multilingual) -> None:
    first, *_ = task.corpora
    found = replace(task, corpora=[replace(first, weight=2.0, other_weight=0.5)]).examples()
    assert [corpus.weight for corpus in found.corpora] == [2, 0.5]


def test_without_pairs_for_validation_nothing_can_be_trained(tmp_path: Path) -> None:
    only = TwoLanguages("en", "de", OwnFiles([], [], file(tmp_path, "t", 0, 5, "ed")))
    with pytest.raises(UserError, match="no pairs for validation"):
        Multilingual([only], temperature=1, validation=1, test=1, seed=1).examples()


@pytest.fixture
def codec() -> TextCodec:
    tokenizer = TOKENIZERS["characters"](["abc "], vocabulary=20)
    limits = Limits(source=9, target=9)
    return TextCodec(tokenizer, tokenizer, limits, TextView(), languages=("de", "fr"), marks=("back",))


def test_a_language_is_a_piece_before_the_source(codec: TextCodec) -> None:
    (row,) = codec.read([Request("a", to="fr")])
    assert row.ids[0] == len(codec.source) + 1
    assert codec.sizes == {"source": len(codec.source) + 3, "target": len(codec.source) + 3}


@pytest.mark.parametrize(
    ("to", "said"), [(None, "answers in de, fr: say which"), ("xx", "does not answer in 'xx', but in de, fr")]
)
def test_a_language_that_is_missing_or_not_known_is_told(codec: TextCodec, to: str | None, said: str) -> None:
    with pytest.raises(UserError, match=said):
        codec.check(Request("a", to=to))


def test_a_model_of_one_language_is_asked_for_none(codec: TextCodec) -> None:
    single = TextCodec(codec.source, codec.target, codec.limits, codec.view)
    (row,) = single.read([Request("a")])
    assert row.ids == (*single.source.encode("a"), END)
    with pytest.raises(UserError, match="one language"):
        single.check(Request("a", to="de"))


def test_tags_are_saved_with_the_tokenizers(codec: TextCodec, tmp_path: Path) -> None:
    codec.save(tmp_path)
    again = TextCodec.load(tmp_path, codec.limits, codec.view)
    assert again.agrees(codec)
    assert (again.languages, again.marks) == (("de", "fr"), ("back",))
    (tmp_path / "tags.json").write_text("{}")
    with pytest.raises(UserError, match=r"tags\.json is damaged"):
        TextCodec.load(tmp_path, codec.limits, codec.view)


@pytest.fixture
def several() -> TextCodec:
    """A tokenizer for each language of the targets."""
    source = TOKENIZERS["characters"](["abc "], vocabulary=20)
    targets = {
        "de": TOKENIZERS["characters"](["xyz"], vocabulary=20),
        "fr": TOKENIZERS["bpe"](["xyz"], vocabulary=300),
    }
    limits = Limits(source=9, target=9)
    return TextCodec(source, LanguageTokenizers(targets), limits, TextView(), languages=("de", "fr"))


def test_with_a_tokenizer_for_each_language_an_answer_has_no_piece_of_another(several: TextCodec) -> None:
    german, french = (several.target.of(language).ids for language in ("de", "fr"))
    rules = several.rules(Request("a", to="de"))
    allowed = restrict(torch.zeros(1, len(several.target)), [rules], [9])[0]
    assert torch.isinf(allowed).nonzero().flatten().tolist() == list(french)
    rules = several.rules(Request("a", to="fr", prefix="x"))
    allowed = restrict(torch.zeros(1, len(several.target)), [rules], [9])[0]
    assert torch.isfinite(allowed).nonzero().flatten().tolist() == several.target.of("fr").encode("x")[:1]
    assert len(german) + len(french) + 4 == several.sizes["target"]


def test_targets_are_encoded_by_the_language_that_is_asked_for(several: TextCodec) -> None:
    for language in ("de", "fr"):
        (row,) = several.encode_targets(["xy"], ["x"], to=language)
        assert row == [*several.target.of(language).encode("xy"), END]


def test_tokenizers_of_several_languages_are_saved_and_found_again(
    several: TextCodec, tmp_path: Path
) -> None:
    several.save(tmp_path)
    assert (tmp_path / "target.de.tokenizer.json").exists()
    again = TextCodec.load(tmp_path, several.limits, several.view)
    assert again.agrees(several)
    assert again.sizes == several.sizes
    (tmp_path / "target.fr.tokenizer.json").unlink()
    with pytest.raises(UserError, match=r"target\.fr\.tokenizer\.json: the tokenizer cannot be read"):
        TextCodec.load(tmp_path, several.limits, several.view)
